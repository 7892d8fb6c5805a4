/* Steps of a pipeline, as `report --json` has them under `steps`. */

/* Nanoseconds; of batches messages. */
export interface StepMeasure {
  count: number;
  sum: number;
  avg: number;
  min: number;
  max: number;
  p50: number;
  p90: number;
  p99: number;
}

export interface StepFacts {
  source: string;
  prefix: string;
  survey: string | null;
  count: number;
  failed: number;
  messages: number;
  documents: number;
  execute?: StepMeasure;
  lag?: StepMeasure;
  batch?: StepMeasure;
}

/* Those that took the most time first. */
export function stepRows(steps: StepFacts[] | undefined): StepFacts[] {
  return [...(steps ?? [])].sort((a, b) => (b.execute?.sum ?? 0) - (a.execute?.sum ?? 0));
}
