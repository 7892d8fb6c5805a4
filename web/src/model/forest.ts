/* Trees of paths in typed arrays: what `calls`, `paths` and the worker's answers become before anything is drawn. Node 0 is a root above all
 * roots; parents come before their children, and children stand in the order in which they first appeared. */

export interface PathRows {
  parent: ArrayLike<number>; // index plus 1; 0: a root
  frame: (row: number) => number;
  track: (row: number) => number; // index; -1: unknown
  count: ArrayLike<number>;
  total: ArrayLike<number>;
  self: ArrayLike<number>;
  length: number;
}

/* Where a track stands: threads of one process share `process`. */
export interface TrackPlace {
  process: number;
  processLabel: string;
  threadLabel: string;
}

export interface ForestOptions {
  frameCount: number; // frames from here on are labels of processes and threads
  tracks: ReadonlySet<number> | null; // null: all
  place(track: number): TrackPlace;
  isMerged: boolean; // equal paths of all threads are one
  isFolded: boolean; // a function called within itself goes to its outermost call
  rootLabel: string;
}

export interface Forest {
  size: number;
  parent: Int32Array; // -1: node 0
  frame: Uint32Array;
  track: Int32Array; // -1: several or unknown
  count: Float64Array;
  total: Float64Array;
  self: Float64Array;
  childFirst: Uint32Array; // children of n: child[childFirst[n] … childFirst[n + 1]]
  child: Uint32Array;
  frameCount: number;
  labels: string[]; // of frame frameCount + i; 0: of node 0
}

interface Builder {
  size: number;
  parent: Int32Array;
  frame: Uint32Array;
  track: Int32Array;
  count: Float64Array;
  total: Float64Array;
  self: Float64Array;
  options: ForestOptions;
  labels: string[];
  index: Int32Array | null; // nodes by parent and frame, open addressing; null: rows stay apart
}

function addNode(made: Builder, parent: number, frame: number, track: number): number {
  const node = made.size++;
  made.parent[node] = parent;
  made.frame[node] = frame;
  made.track[node] = track;
  return node;
}

function addLabel(made: Builder, parent: number, label: string, track: number): number {
  made.labels.push(label);
  return addNode(made, parent, made.options.frameCount + made.labels.length - 1, track);
}

/* The node of that frame below that parent, made if there is none. */
function findNode(made: Builder, parent: number, frame: number, track: number): number {
  const index = made.index;
  if (!index) return addNode(made, parent, frame, track);
  const mask = index.length - 1;
  let slot = (Math.imul(parent, 0x9e3779b1) ^ Math.imul(frame + 1, 0x85ebca6b)) >>> 0;
  slot = (slot ^ (slot >>> 15)) & mask;
  for (;;) {
    const node = index[slot]! - 1;
    if (node < 0) {
      const added = addNode(made, parent, frame, track);
      index[slot] = added + 1;
      return added;
    }
    if (made.parent[node] === parent && made.frame[node] === frame) {
      if (made.track[node] !== track) made.track[node] = -1;
      return node;
    }
    slot = (slot + 1) & mask;
  }
}

/* The tracks that rows are on, each once. Neighbours are mostly on the same one. */
function tracksOf(rows: PathRows): Set<number> {
  const tracks = new Set<number>();
  let last = NaN;
  for (let row = 0; row < rows.length; row++) {
    const track = rows.track(row);
    if (track !== last) tracks.add((last = track));
  }
  return tracks;
}

/* Roots of threads: none if threads are merged or there is one; else a thread's, below its process's if there are several. */
function threadRoots(made: Builder, rows: PathRows): (track: number) => number {
  const { options } = made;
  const tracks = new Set<number>();
  const processes = new Map<number, number>(); // process to how many of its threads are there
  for (const track of tracksOf(rows)) {
    if (options.tracks && !options.tracks.has(track)) continue;
    tracks.add(track);
    const { process } = options.place(track);
    processes.set(process, (processes.get(process) ?? 0) + 1);
  }
  if (options.isMerged || tracks.size <= 1) return () => 0;
  const roots = new Map<number, number>();
  const processRoots = new Map<number, number>();
  return (track) => {
    let root = roots.get(track);
    if (root !== undefined) return root;
    const place = options.place(track);
    let above = 0;
    if (processes.size > 1) {
      const isOnly = processes.get(place.process) === 1;
      above = processRoots.get(place.process) ?? addLabel(made, 0, place.processLabel, isOnly ? track : -1);
      processRoots.set(place.process, above);
      root = isOnly ? above : addLabel(made, above, place.threadLabel, track);
    } else root = addLabel(made, 0, place.threadLabel, track);
    roots.set(track, root);
    return root;
  };
}

/* The outermost node of the frame on the way from `node` up; -1: none. */
function ancestorOfFrame(made: Builder, node: number, frame: number): number {
  for (let at = node; at > 0; at = made.parent[at]!) if (made.frame[at] === frame) return at;
  return -1;
}

/* Times that are no numbers, or less than nothing, come from damaged recordings. */
function positive(value: number | undefined): number {
  return value !== undefined && value > 0 && value < Infinity ? value : 0;
}

function addRows(made: Builder, rows: PathRows): void {
  const { options } = made;
  const rootOf = threadRoots(made, rows);
  const nodeOf = new Int32Array(rows.length).fill(-1);
  for (let row = 0; row < rows.length; row++) {
    const track = rows.track(row);
    if (options.tracks && !options.tracks.has(track)) continue;
    const above = (rows.parent[row] ?? 0) - 1;
    const parentNode = above >= 0 && above < row ? nodeOf[above]! : -1;
    const parent = parentNode >= 0 ? parentNode : rootOf(track);
    const frame = rows.frame(row);
    const total = positive(rows.total[row]);
    let node = options.isFolded ? ancestorOfFrame(made, parent, frame) : -1;
    if (node >= 0) {
      // What lies between the two calls gives up the inner one's time, which is the outer one's from now on.
      for (let at = parent; at !== node; at = made.parent[at]!) made.total[at]! -= total;
    } else {
      node = findNode(made, parent, frame, track);
      made.total[node]! += total;
      for (let at = parent; at >= 0 && isLabel(made, at); at = made.parent[at]!) made.total[at]! += total;
    }
    made.count[node]! += positive(rows.count[row]);
    made.self[node]! += positive(rows.self[row]);
    nodeOf[row] = node;
  }
  if (options.isFolded)
    for (let node = 0; node < made.size; node++) made.total[node] = Math.max(0, made.total[node]!);
}

function isLabel(made: Builder, node: number): boolean {
  return made.frame[node]! >= made.options.frameCount;
}

/* Children of each node, side by side, in the order of their numbers. */
function listChildren(size: number, parent: Int32Array): { childFirst: Uint32Array; child: Uint32Array } {
  const childFirst = new Uint32Array(size + 1);
  for (let node = 1; node < size; node++) childFirst[parent[node]! + 1]!++;
  for (let node = 0; node < size; node++) childFirst[node + 1]! += childFirst[node]!;
  const child = new Uint32Array(Math.max(0, size - 1));
  const next = childFirst.slice(0, size);
  for (let node = 1; node < size; node++) child[next[parent[node]!]!++] = node;
  return { childFirst, child };
}

function powerOfTwoAbove(value: number): number {
  let power = 16;
  while (power < value) power *= 2;
  return power;
}

export function makeForest(rows: PathRows, options: ForestOptions): Forest {
  const room = rows.length + 2 * tracksOf(rows).size + 1;
  const isShared = options.isMerged || options.isFolded;
  const made: Builder = {
    size: 0,
    parent: new Int32Array(room),
    frame: new Uint32Array(room),
    track: new Int32Array(room),
    count: new Float64Array(room),
    total: new Float64Array(room),
    self: new Float64Array(room),
    options,
    labels: [],
    index: isShared ? new Int32Array(powerOfTwoAbove(2 * room)) : null,
  };
  addLabel(made, -1, options.rootLabel, -1);
  addRows(made, rows);
  const size = made.size;
  const parent = made.parent.subarray(0, size);
  return {
    size,
    parent,
    frame: made.frame.subarray(0, size),
    track: made.track.subarray(0, size),
    count: made.count.subarray(0, size),
    total: made.total.subarray(0, size),
    self: made.self.subarray(0, size),
    ...listChildren(size, parent),
    frameCount: options.frameCount,
    labels: made.labels,
  };
}

/* Whether the node stands for a process, a thread or everything, not for a call. */
export function isLabelNode(forest: Forest, node: number): boolean {
  return forest.frame[node]! >= forest.frameCount;
}

/* Depth first, without recursion: trees may be as deep as they like. */
export function walk(forest: Forest, enter: (node: number) => void, leave: (node: number) => void): void {
  const { childFirst, child, parent } = forest;
  const next = childFirst.slice(0, forest.size);
  let node = 0;
  enter(0);
  while (node >= 0) {
    const at = next[node]!;
    if (at < childFirst[node + 1]!) {
      next[node] = at + 1;
      node = child[at]!;
      enter(node);
    } else {
      leave(node);
      node = parent[node]!;
    }
  }
}
