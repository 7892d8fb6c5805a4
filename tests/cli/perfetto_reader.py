"""Reads the few messages of a Perfetto trace that `venturi export` writes.

`messages(data)` decodes by field numbers alone. `Trace()` is the same by the protobuf library, whose
descriptors are built here from the numbers in Perfetto's public definitions.
"""
import struct

MESSAGE, STRING, UINT, INT, BOOL, DOUBLE = "message", "string", "uint64", "int64", "bool", "double"

# Message -> {field name: (number, type, repeated)}; a type that is no scalar is another message.
SCHEMA = {
    "Trace": {"packet": (1, "TracePacket", True)},
    "TracePacket": {
        "clock_snapshot": (6, "ClockSnapshot", False), "timestamp": (8, UINT, False),
        "trusted_packet_sequence_id": (10, UINT, False), "track_event": (11, "TrackEvent", False),
        "interned_data": (12, "InternedData", False), "sequence_flags": (13, UINT, False),
        "trace_packet_defaults": (59, "TracePacketDefaults", False),
        "track_descriptor": (60, "TrackDescriptor", False), "first_packet_on_sequence": (87, BOOL, False)},
    "ClockSnapshot": {"clocks": (1, "Clock", True)},
    "Clock": {"clock_id": (1, UINT, False), "timestamp": (2, UINT, False)},
    "TracePacketDefaults": {"timestamp_clock_id": (58, UINT, False)},
    "TrackDescriptor": {
        "uuid": (1, UINT, False), "name": (2, STRING, False), "process": (3, "ProcessDescriptor", False),
        "thread": (4, "ThreadDescriptor", False), "parent_uuid": (5, UINT, False),
        "counter": (8, "CounterDescriptor", False)},
    "ProcessDescriptor": {"pid": (1, INT, False), "cmdline": (2, STRING, True), "process_name": (6, STRING, False)},
    "ThreadDescriptor": {"pid": (1, INT, False), "tid": (2, INT, False), "thread_name": (5, STRING, False)},
    "CounterDescriptor": {"unit": (3, UINT, False), "unit_name": (6, STRING, False)},
    "TrackEvent": {
        "debug_annotations": (4, "DebugAnnotation", True), "type": (9, UINT, False), "name_iid": (10, UINT, False),
        "track_uuid": (11, UINT, False), "name": (23, STRING, False), "counter_value": (30, INT, False),
        "source_location_iid": (34, UINT, False), "double_counter_value": (44, DOUBLE, False)},
    "DebugAnnotation": {
        "name_iid": (1, UINT, False), "bool_value": (2, BOOL, False), "uint_value": (3, UINT, False),
        "int_value": (4, INT, False), "double_value": (5, DOUBLE, False), "string_value": (6, STRING, False),
        "name": (10, STRING, False)},
    "InternedData": {"event_names": (2, "Name", True), "debug_annotation_names": (3, "Name", True),
                     "source_locations": (4, "SourceLocation", True)},
    "Name": {"iid": (1, UINT, False), "name": (2, STRING, False)},
    "SourceLocation": {"iid": (1, UINT, False), "file_name": (2, STRING, False), "function_name": (3, STRING, False),
                       "line_number": (4, UINT, False)},
}


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if not byte & 0x80:
            return value, at


def _scalar(kind, value):
    if kind == INT:
        return value - 2 ** 64 if value >= 2 ** 63 else value
    return bool(value) if kind == BOOL else value


def messages(data, message="Trace"):
    """A dict by field name; repeated fields are lists. A field that the schema lacks is an error."""
    fields = {number: (name, kind, repeated) for name, (number, kind, repeated) in SCHEMA[message].items()}
    found = {name: [] for name, (_, _, repeated) in SCHEMA[message].items() if repeated}
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        name, kind, repeated = fields[tag >> 3]
        if tag & 7 == 0:
            value, at = _varint(data, at)
            assert kind in (UINT, INT, BOOL)
            value = _scalar(kind, value)
        elif tag & 7 == 1:
            assert kind == DOUBLE
            value, = struct.unpack_from("<d", data, at)
            at += 8
        else:
            assert tag & 7 == 2
            size, at = _varint(data, at)
            assert at + size <= len(data)
            value = bytes(data[at:at + size])
            at += size
            value = value.decode() if kind == STRING else messages(value, kind)
        if repeated:
            found[name].append(value)
        else:
            found[name] = value
    return found


def library_trace():
    """The protobuf library's class for a trace, or None without the library."""
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    except ImportError:
        return None
    file = descriptor_pb2.FileDescriptorProto(name="trace.proto", package="t", syntax="proto2")
    proto = descriptor_pb2.FieldDescriptorProto
    kinds = {STRING: proto.TYPE_STRING, UINT: proto.TYPE_UINT64, INT: proto.TYPE_INT64, BOOL: proto.TYPE_BOOL,
             DOUBLE: proto.TYPE_DOUBLE}
    for message, fields in SCHEMA.items():
        described = file.message_type.add(name=message)
        for name, (number, kind, repeated) in fields.items():
            field = described.field.add(name=name, number=number, label=3 if repeated else 1)
            if kind in kinds:
                field.type = kinds[kind]
            else:
                field.type = proto.TYPE_MESSAGE
                field.type_name = ".t." + kind
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    descriptor = pool.FindMessageTypeByName("t.Trace")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(pool).GetPrototype(descriptor)
