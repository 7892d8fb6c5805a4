/* Words of Python and C by what they are: enough to read source by, not a parser. Each line stands alone, so a string over several lines is
 * only seen on those with its marks. */

export type Kind = "plain" | "comment" | "string" | "number" | "keyword";

export interface Piece {
  kind: Kind;
  text: string;
}

const PYTHON = new Set(
  (
    "False None True and as assert async await break case class continue def del elif else except finally for from global if import in " +
    "is lambda match nonlocal not or pass raise return try while with yield"
  ).split(" "),
);

const C = new Set(
  (
    "auto bool break case catch char class const constexpr continue default delete do double else enum extern false float for goto if " +
    "inline int long namespace new nullptr operator private protected public return short signed sizeof static struct switch template " +
    "this throw true try typedef typename union unsigned using virtual void volatile while"
  ).split(" "),
);

const PYTHON_WORD =
  /(#.*)|([rbfu]{0,2}(?:"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?))|(\b\d[\w.]*)|(\b[A-Za-z_]\w*)/gi;
const C_WORD =
  /(\/\/.*|\/\*.*?(?:\*\/|$)|^\s*\*.*)|("(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)|(\b\d[\w.]*)|(#?\b[A-Za-z_]\w*)/g;

/* Longer lines are data: they stay plain. */
const LONGEST = 1000;

export function languageOf(file: string): "python" | "c" | "" {
  if (/\.(py|pyx|pyi)$|^<|\.ipynb/.test(file)) return "python";
  return /\.(c|h|cc|cpp|cxx|hh|hpp|hxx|inl)$/i.test(file) ? "c" : "";
}

/* The line in pieces, which joined are the line. */
export function highlight(line: string, language: "python" | "c" | ""): Piece[] {
  const words = language === "python" ? PYTHON_WORD : C_WORD;
  const keywords = language === "python" ? PYTHON : C;
  const pieces: Piece[] = [];
  let at = 0;

  if (!language || line.length > LONGEST) return [{ kind: "plain", text: line }];
  for (const found of line.matchAll(words)) {
    const kind = kindOf(found, keywords);
    if (kind === "plain" || found[0] === "") continue;
    if (found.index > at) pieces.push({ kind: "plain", text: line.slice(at, found.index) });
    pieces.push({ kind, text: found[0] });
    at = found.index + found[0].length;
  }
  if (at < line.length) pieces.push({ kind: "plain", text: line.slice(at) });
  return pieces;
}

function kindOf(found: RegExpMatchArray, keywords: Set<string>): Kind {
  if (found[1] !== undefined) return "comment";
  if (found[2] !== undefined) return "string";
  if (found[3] !== undefined) return "number";
  return keywords.has(found[0]) || found[0].startsWith("#") ? "keyword" : "plain";
}
