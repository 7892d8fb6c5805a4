/* Saving what is shown: text and pictures become files of the reader's, without any server. */

/* A field that a spreadsheet would take for a formula is marked as text. */
function csvField(value: string | number): string {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function toCsv(header: readonly string[], rows: Iterable<readonly (string | number)[]>): string {
  const lines = [header.map(csvField).join(",")];

  for (const row of rows) lines.push(row.map(csvField).join(","));
  return `${lines.join("\n")}\n`;
}

/* A name that every system takes. */
export function fileName(title: string, view: string, ending: string): string {
  const safe = `${title}-${view}`.replace(/[^A-Za-z0-9._]+/g, "-").replace(/^[-.]+|-+$/g, "");

  return `${safe.slice(0, 80) || "venturi"}.${ending}`;
}

export function saveBlob(name: string, blob: Blob): void {
  const link = document.createElement("a");

  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function saveText(name: string, type: string, text: string): void {
  saveBlob(name, new Blob([text], { type }));
}

export function saveCanvas(name: string, canvas: HTMLCanvasElement): void {
  canvas.toBlob((blob) => blob && saveBlob(name, blob), "image/png");
}
