/* Numbers as people read them. Times are nanoseconds, NaN is "–". Nothing here knows the page. */

const UNKNOWN = "–";

const TIME_UNITS: [number, string][] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];

const BYTE_UNITS: [number, string][] = [
  [1e12, "TB"],
  [1e9, "GB"],
  [1e6, "MB"],
  [1e3, "kB"],
  [1, "B"],
];

const SHORT_UNITS: [number, string][] = [
  [1e9, " G"],
  [1e6, " M"],
  [1e3, " k"],
];

/* Three significant digits and no more: 1.23, 12.3, 123. */
function digits(value: number): string {
  const size = Math.abs(value);

  return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

/* "1.23 ms". A whole number of nanoseconds has no digits after the point. */
export function formatTime(ns: number): string {
  if (!Number.isFinite(ns)) return UNKNOWN;
  if (ns === 0) return "0";
  for (const [unit, name] of TIME_UNITS)
    if (Math.abs(ns) >= unit * 0.9995)
      return unit === 1 && Number.isInteger(ns) ? `${ns} ns` : `${digits(ns / unit)} ${name}`;
  return `${digits(ns)} ns`;
}

/* Long times as hours, minutes and seconds: "2 h 03 min", "4 min 05 s"; short ones as formatTime(). */
export function formatDuration(ns: number): string {
  const s = Math.round(ns / 1e9);

  if (!(ns >= 120e9)) return formatTime(ns);
  if (s >= 7200)
    return `${Math.floor(s / 3600)} h ${String(Math.floor((s % 3600) / 60)).padStart(2, "0")} min`;
  return `${Math.floor(s / 60)} min ${String(s % 60).padStart(2, "0")} s`;
}

/* A place on a time axis with as many digits as tell it from the next tick, `step` ns away: "1.250 s". */
export function formatTick(ns: number, step: number): string {
  const [unit, name] = TIME_UNITS.find(([size]) => Math.abs(ns) >= size || step >= size) ?? [1, "ns"];
  const least = Math.max(0, Math.min(9, -Math.floor(Math.log10(step / unit) + 1e-9)));
  const scaled = (step / unit) * 10 ** least;
  const places = Math.abs(scaled - Math.round(scaled)) > 1e-6 ? least + 1 : least; // 0.25

  return ns === 0 ? "0" : `${(ns / unit).toFixed(places)} ${name}`;
}

/* Round places for ticks: 1, 2 or 5 times a power of ten, at most `most` of them in the range. */
export function tickStep(span: number, most: number): number {
  const least = span / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(least));
  const lead = least / power;

  if (!(span > 0)) return 1;
  return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

/* "12,345,678", with a thin comma; not rounded when whole. */
export function formatCount(count: number): string {
  if (!Number.isFinite(count)) return UNKNOWN;
  return count.toLocaleString("en-US", { maximumFractionDigits: Number.isInteger(count) ? 0 : 2 });
}

/* "12.3 M" where there is no room. */
export function formatShort(count: number): string {
  if (!Number.isFinite(count)) return UNKNOWN;
  for (const [unit, name] of SHORT_UNITS)
    if (Math.abs(count) >= unit * 0.9995) return `${digits(count / unit)}${name}`;
  return Number.isInteger(count) ? String(count) : digits(count);
}

export function formatBytes(bytes: number): string {
  if (!Number.isFinite(bytes)) return UNKNOWN;
  for (const [unit, name] of BYTE_UNITS)
    if (Math.abs(bytes) >= unit)
      return unit === 1 ? `${Math.round(bytes)} B` : `${digits(bytes / unit)} ${name}`;
  return "0 B";
}

const PREFIXES: [number, string][] = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
  [1, ""],
  [1e-3, "m"],
  [1e-6, "µ"],
];

/* "12.3 J", "4.56 mg": any unit of the metric system. */
export function formatUnit(value: number, unit: string): string {
  if (!Number.isFinite(value)) return UNKNOWN;
  if (value === 0) return `0 ${unit}`;
  const [size, prefix] = PREFIXES.find(([least]) => Math.abs(value) >= least * 0.9995) ?? PREFIXES.at(-1)!;

  return `${digits(value / size)} ${prefix}${unit}`;
}

/* A share of 1 as "37.2 %"; what is not nothing is never "0.0 %". */
export function formatShare(share: number): string {
  const percent = share * 100;

  if (!Number.isFinite(share)) return UNKNOWN;
  if (percent !== 0 && Math.abs(percent) < 0.05) return percent > 0 ? "<0.1 %" : ">−0.1 %";
  return `${percent.toFixed(Math.abs(percent) >= 99.95 ? 0 : 1)} %`;
}

/* A change with its sign: "+12.3 ms", "−4.00 µs". */
export function formatChange(value: number, format: (value: number) => string): string {
  if (value === 0 || !Number.isFinite(value)) return format(value);
  return (value > 0 ? "+" : "−") + format(Math.abs(value));
}

/* "2026-11-16 06:17:57.123456", from microseconds. */
export function formatInstant(unixUs: number): string {
  const moment = formatMoment(Math.floor(unixUs / 1000));

  return moment === UNKNOWN ? moment : `${moment}.${String(Math.floor(unixUs % 1e6)).padStart(6, "0")}`;
}

/* A moment as "2026-11-16 06:17:57", in the reader's zone. */
export function formatMoment(unixMs: number): string {
  const at = new Date(unixMs);
  const two = (n: number) => String(n).padStart(2, "0");

  if (!(unixMs > 0) || Number.isNaN(at.getTime())) return UNKNOWN;
  return (
    `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ` +
    `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
  );
}
