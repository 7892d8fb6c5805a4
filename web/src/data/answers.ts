/* What the store of spans answers: windows to draw, numbers, paths, single spans. Pure; lives in the worker. Nothing here walks over all
 * spans unless the filter asks for all of them. */

import { firstFrom, makeBatch, placeAt, windowOf } from "./lanes";
import { makeQuantiles } from "./quantile";
import { ERROR } from "./spans";
import type { SpanLanes, SpanStore } from "./spans";
import type { PathsReply, Questions, SpanFilter, SpanReply, StatsReply, WindowReply } from "./work";

function tracksOf(store: SpanLanes, wanted: number[] | null): number[] {
  const tracks = store.firstLane.length - 1;

  if (wanted) return wanted.filter((track) => track >= 0 && track < tracks);
  return Array.from({ length: tracks }, (_, i) => i);
}

export function answerWindow(store: SpanLanes, ask: Questions["window"]["ask"]): WindowReply {
  const { from, to } = ask.range;
  const pixel = (to - from) / Math.max(1, ask.pixels);
  const batch = makeBatch();
  const track: number[] = [];
  const ends: number[] = [];

  for (const one of tracksOf(store, ask.tracks)) {
    for (let lane = store.firstLane[one]!; lane < store.firstLane[one + 1]!; lane++)
      windowOf(store.lanes, lane, from, to, pixel, batch);
    track.push(one);
    ends.push(batch.length);
  }
  const tracks = new Uint32Array(batch.length);
  const depth = new Uint16Array(batch.length);
  track.forEach((one, i) => {
    const begin = ends[i - 1] ?? 0;
    tracks.fill(one, begin, ends[i]);
    for (let at = begin; at < ends[i]!; at++) depth[at] = batch.lane[at]! - store.firstLane[one]!;
  });
  const cut = <A extends { slice(from: number, to: number): A }>(array: A) => array.slice(0, batch.length);
  return {
    from,
    to,
    track: tracks,
    depth,
    site: cut(batch.site),
    start: cut(batch.start),
    end: cut(batch.end),
    count: cut(batch.count),
    flags: cut(batch.flags),
    folded: batch.folded,
  };
}

interface Piece {
  track: number;
  lane: number;
  from: number;
  to: number;
}

/* The pieces of lanes that are in the filter's range and tracks. */
function piecesOf(store: SpanStore, filter: SpanFilter): Piece[] {
  const { start, begins } = store.lanes;
  const pieces: Piece[] = [];

  for (const track of tracksOf(store, filter.tracks))
    for (let lane = store.firstLane[track]!; lane < store.firstLane[track + 1]!; lane++) {
      const first = begins[lane]!;
      const last = begins[lane + 1]!;
      const from = filter.range ? firstFrom(start, filter.range.from, first, last) : first;
      const to = filter.range ? firstFrom(start, filter.range.to, from, last) : last;
      if (to > from) pieces.push({ track, lane, from, to });
    }
  return pieces;
}

/* 1 for each site that counts. */
function wantedSites(store: SpanStore, sites: number[] | null): Uint8Array {
  const wanted = new Uint8Array(store.sites).fill(sites ? 0 : 1);

  for (const site of sites ?? []) if (site < wanted.length) wanted[site] = 1;
  return wanted;
}

/* Whether a span's time is inside that of another of its group that counts as well, and must not be added twice. Of a site that is the
 * nearest of the same site above it, if it begins in the range; of threads and processes any wanted one above. */
function makeIsInside(store: SpanStore, ask: Questions["stats"]["ask"], isWanted: Uint8Array) {
  const { paths, path, lanes } = store;
  const from = ask.range?.from ?? -Infinity;
  const isBelow = new Uint8Array(ask.by === "site" ? 0 : paths.length);

  for (let i = 0; i < isBelow.length; i++) {
    const above = paths.parent[i]!;
    if (above && (isWanted[paths.site[above - 1]!] || isBelow[above - 1])) isBelow[i] = 1;
  }
  return (i: number, lane: number) => {
    if (ask.by !== "site") return isBelow[path[i]!] === 1;
    const steps = paths.steps[path[i]!]!;
    if (steps === 0 || !ask.range) return steps > 0;
    const outer = placeAt(lanes, lane - steps, lanes.start[i]!);
    return outer >= 0 && lanes.site[outer] === lanes.site[i] && lanes.start[outer]! >= from;
  };
}

/* Groups by site, track or process; its number is in `site` of the reply. */
export function answerStats(store: SpanStore, ask: Questions["stats"]["ask"]): StatsReply {
  const { lanes, total, self } = store;
  const { site, count, flags } = lanes;
  const isWanted = wantedSites(store, ask.sites);
  const pieces = piecesOf(store, ask);
  const bySite = ask.by === "site";
  const groupOf = ({ track }: Piece) => (ask.by === "track" ? track : Math.max(0, store.processOf[track]!));
  const rectangles = new Float64Array(
    Math.max(store.sites, store.firstLane.length, ...store.processOf.map((one) => one + 1)),
  );

  for (const piece of pieces) {
    const group = groupOf(piece);
    for (let i = piece.from; i < piece.to; i++)
      if (isWanted[site[i]!]) rectangles[bySite ? site[i]! : group]!++;
  }
  const groups = Array.from(rectangles.keys()).filter((group) => rectangles[group]! > 0);
  const placeOf = new Uint32Array(rectangles.length);
  groups.forEach((group, place) => (placeOf[group] = place));
  const quantiles = makeQuantiles(groups.map((group) => rectangles[group]!));
  const reply = emptyStats(groups);
  const isInside = makeIsInside(store, ask, isWanted);

  for (const piece of pieces) {
    const group = groupOf(piece);
    for (let i = piece.from; i < piece.to; i++) {
      if (!isWanted[site[i]!]) continue;
      const at = placeOf[bySite ? site[i]! : group]!;
      const ns = total[i]!;
      reply.count[at]! += count[i]!;
      if (count[i]! > 1) reply.isAbout = true;
      if (flags[i]! & ERROR) reply.errors[at]!++;
      reply.avg[at]! += ns;
      if (!isInside(i, piece.lane)) reply.total[at]! += ns;
      reply.self[at]! += self[i]!;
      if (ns < reply.min[at]!) reply.min[at] = ns;
      if (ns > reply.max[at]!) reply.max[at] = ns;
      quantiles.add(at, ns);
    }
  }
  groups.forEach((_, at) => {
    const inside = (ns: number) => Math.min(reply.max[at]!, Math.max(reply.min[at]!, ns));
    reply.avg[at] = Math.floor(reply.avg[at]! / reply.count[at]!);
    reply.p50[at] = inside(quantiles.quantile(at, 0.5));
    reply.p90[at] = inside(quantiles.quantile(at, 0.9));
    reply.p99[at] = inside(quantiles.quantile(at, 0.99));
  });
  return reply;
}

function emptyStats(groups: number[]): StatsReply {
  const numbers = () => new Float64Array(groups.length);

  return {
    site: Uint32Array.from(groups),
    count: new Uint32Array(groups.length),
    errors: new Uint32Array(groups.length),
    total: numbers(),
    self: numbers(),
    min: numbers().fill(Infinity),
    avg: numbers(),
    p50: numbers(),
    p90: numbers(),
    p99: numbers(),
    max: numbers(),
    isAbout: false,
  };
}

/* The paths of the filter's spans and what leads to them; those of several tracks as one where they need not be told apart. */
export function answerPaths(store: SpanStore, ask: Questions["paths"]["ask"]): PathsReply {
  const { paths, path, total, self, lanes } = store;
  const counts = new Float64Array(paths.length);
  const totals = new Float64Array(paths.length);
  const selfs = new Float64Array(paths.length);
  const isWanted = new Uint8Array(paths.length);
  const placeOf = new Uint32Array(paths.length); // in the reply, plus 1
  const ofSite = wantedSites(store, ask.sites);
  const made = new Map<number, number>(); // by parent and site
  let isAbout = false;
  const out = { parent: [], frame: [], track: [], count: [], total: [], self: [] } as Record<
    Exclude<keyof PathsReply, "isAbout">,
    number[]
  >;

  for (const piece of piecesOf(store, ask))
    for (let i = piece.from; i < piece.to; i++) {
      if (!ofSite[lanes.site[i]!]) continue;
      const at = path[i]!;
      counts[at]! += lanes.count[i]!;
      if (lanes.count[i]! > 1) isAbout = true;
      totals[at]! += total[i]!;
      selfs[at]! += self[i]!;
      isWanted[at] = 1;
    }
  for (let i = paths.length - 1; i >= 0; i--)
    if (isWanted[i] && paths.parent[i]) isWanted[paths.parent[i]! - 1] = 1;
  for (let i = 0; i < paths.length; i++) {
    if (!isWanted[i]) continue;
    const parent = paths.parent[i] ? placeOf[paths.parent[i]! - 1]! : 0;
    const key = parent * store.sites + paths.site[i]!;
    let place = ask.byTrack ? undefined : made.get(key);
    if (place === undefined) {
      place = out.parent.push(parent);
      out.frame.push(paths.site[i]!);
      out.track.push(ask.byTrack ? paths.track[i]! : 0);
      out.count.push(0);
      out.total.push(0);
      out.self.push(0);
      if (!ask.byTrack) made.set(key, place);
    }
    placeOf[i] = place;
    out.count[place - 1]! += counts[i]!;
    out.total[place - 1]! += totals[i]!;
    out.self[place - 1]! += selfs[i]!;
  }
  return {
    parent: Uint32Array.from(out.parent),
    frame: Uint32Array.from(out.frame),
    track: Uint32Array.from(out.track),
    count: Uint32Array.from(out.count),
    total: Float64Array.from(out.total),
    self: Float64Array.from(out.self),
    isAbout,
  };
}

function spanAt(store: SpanStore, i: number, track: number, depth: number): SpanReply {
  const { site, start, duration, flags } = store.lanes;

  return {
    track,
    depth,
    site: site[i]!,
    start: start[i]!,
    duration: duration[i]!,
    total: store.total[i]!,
    self: store.self[i]!,
    flags: flags[i]!,
  };
}

export function answerAt(store: SpanStore, ask: Questions["at"]["ask"]): SpanReply | null {
  const lane = store.firstLane[ask.track];
  const end = store.firstLane[ask.track + 1];

  if (lane === undefined || end === undefined || ask.depth < 0 || lane + ask.depth >= end) return null;
  const i = placeAt(store.lanes, lane + ask.depth, ask.time);
  return i < 0 ? null : spanAt(store, i, ask.track, ask.depth);
}

/* In each lane the first that fits; of those the nearest. */
export function answerNext(store: SpanStore, ask: Questions["next"]["ask"]): SpanReply | null {
  const { start, site, begins } = store.lanes;
  const ofSite = wantedSites(store, ask.sites);
  const limit = ask.range ?? { from: -Infinity, to: Infinity };
  let best: { i: number; track: number; depth: number } | null = null;
  const isNearer = (i: number) => !best || (start[i]! - start[best.i]!) * ask.direction < 0;

  for (const track of tracksOf(store, ask.tracks))
    for (let lane = store.firstLane[track]!; lane < store.firstLane[track + 1]!; lane++) {
      const first = begins[lane]!;
      const last = begins[lane + 1]!;
      if (ask.depth !== undefined && ask.depth !== lane - store.firstLane[track]!) continue;
      let i = firstFrom(start, ask.at, first, last);
      if (ask.direction > 0) while (i < last && start[i]! <= ask.at) i++;
      else i--;
      for (; i >= first && i < last && isNearer(i); i += ask.direction) {
        if (start[i]! < limit.from || start[i]! >= limit.to) break;
        if (!ofSite[site[i]!]) continue;
        best = { i, track, depth: lane - store.firstLane[track]! };
        break;
      }
    }
  return best && spanAt(store, best.i, best.track, best.depth);
}
