/* bench_info.c - how many events a recording holds and how many it lost, as one JSON object. */
#include <inttypes.h>
#include <stdio.h>
#include <venturi/read.h>

int main(int argc, char **argv)
{
    struct vt_recording_info info;
    vt_recording *recording;

    if (argc != 2) {
        fputs("usage: bench_info FILE\n", stderr);
        return 2;
    }
    if (vt_recording_open(&recording, argv[1])) {
        fprintf(stderr, "bench_info: %s\n", vt_read_error());
        return 2;
    }
    vt_recording_info(recording, &info);
    printf("{\"events\": %" PRIu64 ", \"lost_events\": %" PRIu64
           ", \"is_closed\": %s, \"damage\": %u}\n",
           info.event_count, info.lost_events, info.is_closed ? "true" : "false",
           info.damage_count);
    vt_recording_close(recording);
    return 0;
}
