/* The chosen span and what is below it as a flame graph, folded by name. */

import { useEffect, useMemo, useState } from "preact/hooks";
import type { PageData } from "../../data/types";
import { spanFlame } from "../../model/span-flame";
import type { TraceSpans } from "../../model/traces";
import { NO_ZOOM, type Zoom } from "../../model/zoom";
import { matcher } from "../../state/search";
import { type Rgb, shaded } from "../../ui/colour";
import { Flame } from "../../ui/flame/flame";
import type { Look } from "../../ui/flame/look";
import { formatCount, formatShare, formatTime } from "../../ui/format";
import { clean } from "../../ui/text";

const COLUMNS = ["name", "total ns", "self ns", "spans", "share"];

export function SpanFlame(props: {
  data: PageData;
  spans: TraceSpans;
  span: number;
  colours: Rgb[]; // of services
}) {
  const { data, spans, span } = props;
  const [zoom, setZoom] = useState<Zoom>(NO_ZOOM);
  const tree = useMemo(() => spanFlame(spans, span), [spans, span]);
  const colourOf = useMemo(() => nameColours(props), [spans, span]);
  const nameOf = (node: number) => clean(data.strings[tree.frame(node)] ?? "") || "(no name)";
  const now = matcher.value;
  const look: Look = useMemo(
    () => ({
      text: nameOf,
      colour: (node) => colourOf(tree.frame(node)),
      isPlain: () => false,
      isMatch: now.isActive ? (node) => now.test(data.strings[tree.frame(node)] ?? "") : null,
      isChosen: () => false,
    }),
    [tree, colourOf, now],
  );
  const whole = tree.total(0) || 1;

  useEffect(() => setZoom(NO_ZOOM), [tree]);
  return (
    <Flame
      name="span-flame"
      title={data.directory.title}
      label={`What ${nameOf(0)} did, spans of one name together`}
      tree={tree}
      look={look}
      shape="rows"
      isUpward={false}
      isMain={false}
      zoom={zoom}
      onZoom={setZoom}
      onChoose={() => undefined}
      describe={(node) => [
        nameOf(node),
        `total ${formatTime(tree.total(node))}: ${formatShare(tree.total(node) / whole)} of ${nameOf(0)}`,
        `self ${formatTime(tree.self(node))}`,
        `${formatCount(tree.count(node))} ${tree.count(node) === 1 ? "span" : "spans"}`,
      ]}
      columns={COLUMNS}
      cells={(node) => [
        nameOf(node),
        tree.total(node),
        tree.self(node),
        tree.count(node),
        tree.total(node) / whole,
      ]}
    />
  );
}

/* A name has the colour of the service that it is first met in. */
function nameColours({ spans, span, colours, data }: Parameters<typeof SpanFlame>[0]): (name: number) => Rgb {
  const first = new Map<number, Rgb>();

  for (let i = span; i < spans.end[span]!; i++) {
    const name = spans.name[i]!;
    if (!first.has(name))
      first.set(name, shaded(colours[spans.service[i]!] ?? [128, 128, 128], data.strings[name] ?? ""));
  }
  return (name) => first.get(name) ?? [128, 128, 128];
}
