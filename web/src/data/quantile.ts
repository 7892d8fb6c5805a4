/* Quantiles of many groups at once, the same as the tool's: exact for a few values, else from 64 buckets for each power of two. */

const FEW = 16;
const BUCKETS = 64;
const BUCKET_BITS = 6;
const OCTAVES = 50;

function bucketOf(value: number): number {
  if (value < BUCKETS) return value | 0;
  if (value < 2 ** 32) {
    const octave = 32 - Math.clz32(value) - BUCKET_BITS;
    return octave * BUCKETS + ((value >>> (octave - 1)) & (BUCKETS - 1));
  }
  const octave = 64 - Math.clz32(value / 2 ** 32) - BUCKET_BITS;
  return octave * BUCKETS + (Math.floor(value / 2 ** (octave - 1)) & (BUCKETS - 1));
}

function valueOf(bucket: number): number {
  const octave = bucket >> BUCKET_BITS;
  const width = 2 ** (octave - 1);

  if (octave === 0) return bucket;
  return (BUCKETS + (bucket & (BUCKETS - 1))) * width + Math.floor(width / 2);
}

export interface Quantiles {
  add(group: number, value: number): void;
  quantile(group: number, share: number): number;
}

/* `counts`: how many values each group will get. */
export function makeQuantiles(counts: ArrayLike<number>): Quantiles {
  const groups = Array.from(counts, (count) => ({
    values: new Float64Array(count > FEW ? BUCKETS * OCTAVES : count),
    isExact: count <= FEW,
    isSorted: false,
    length: 0,
  }));

  return {
    add(group, value) {
      const box = groups[group]!;
      if (box.isExact) box.values[box.length] = value;
      else box.values[Math.min(bucketOf(value), box.values.length - 1)]!++;
      box.length++;
    },
    quantile(group, share) {
      const box = groups[group]!;
      const rank = Math.min(box.length, Math.max(1, Math.ceil(share * box.length)));
      if (box.length === 0) return 0;
      if (box.isExact) {
        if (!box.isSorted) box.values.sort();
        box.isSorted = true;
        return box.values[rank - 1]!;
      }
      let seen = 0;
      for (let bucket = 0; bucket < box.values.length; bucket++) {
        seen += box.values[bucket]!;
        if (seen >= rank) return valueOf(bucket);
      }
      return 0;
    },
  };
}
