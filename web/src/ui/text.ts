/* Text of a recording before it is shown: what would be invisible, or would turn the line around, becomes an escape as in the terminal:
 * symbols for control characters are in few fonts. */

/* Line ends, controls, direction marks and overrides, zero-width characters, line separators, lone surrogates, private use and tags. */
const HIDDEN =
  /\r\n|[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|\p{Cs}/gu;

const NEW_LINE = "↵";
const LETTERS = "abtnvfr"; // of 7 to 13

function escapeOf(hidden: string): string {
  const code = hidden.codePointAt(0) ?? 0;
  const hex = code.toString(16);

  if (hidden === "\n" || hidden === "\r\n") return NEW_LINE;
  if (code >= 7 && code <= 13) return `\\${LETTERS[code - 7]}`;
  if (code < 0x80) return `\\x${hex.padStart(2, "0")}`;
  return code > 0xffff ? `\\u{${hex}}` : `\\u${hex.padStart(4, "0")}`;
}

/* The longest text that any view shows whole. */
export const LONGEST = 400;

function shorten(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/* What may go to a canvas, an SVG or a text node: every hidden character visible, at most `most` characters, the cut marked. */
export function clean(text: string, most = LONGEST): string {
  return shorten(text, most).replace(HIDDEN, escapeOf);
}

/* The same for an element that keeps line ends and tabs. */
export function cleanLines(text: string, most: number): string {
  return shorten(text, most).replace(HIDDEN, (hidden) => {
    const shown = escapeOf(hidden);
    return shown === NEW_LINE ? "\n" : hidden === "\t" ? hidden : shown;
  });
}

/* For source lines: tabs as spaces, the rest as clean() does. */
export function cleanLine(text: string, most = 2000): string {
  return clean(text.replaceAll("\t", "    "), most);
}

/* A file without its folders. */
export function lastPart(path: string): string {
  return path.split(/[\\/]/).filter(Boolean).pop() ?? path;
}

/* The end of a path: "…/b/c.py" says more than its beginning. */
export function shortPath(path: string, most = 48): string {
  return path.length <= most ? clean(path) : `…${clean(path.slice(path.length - most + 1))}`;
}

/* "file.py:12", or only the file without a line. */
export function place(file: string, line: number, most = 48): string {
  const name = shortPath(file, most);

  return file && line ? `${name}:${line}` : name;
}

/* What fits into `width` of the widest letters; "" if not even two do. `charWidth` is the average width of one. */
export function fit(text: string, width: number, charWidth: number): string {
  const room = Math.floor(width / charWidth);

  if (text.length <= room) return text;
  return room < 2 ? "" : `${text.slice(0, room - 1)}…`;
}

/* The same with the cut in the middle, for what differs at its end. */
export function fitMiddle(text: string, width: number, charWidth: number): string {
  const room = Math.floor(width / charWidth);
  const end = Math.floor((room - 1) / 2);

  if (text.length <= room) return text;
  return room < 3 ? "" : `${text.slice(0, room - 1 - end)}…${text.slice(text.length - end)}`;
}
