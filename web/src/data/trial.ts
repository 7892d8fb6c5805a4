/* A regular expression on all texts of a page, only to see that it ends: the worker does this, which can be stopped. Pure. */

/* The longest text an expression is tried on: names can be long, and expressions slow. */
export const LONGEST_TRIED = 1000;

export function tryExpression(source: string, flags: string, texts: readonly string[]): void {
  const expression = new RegExp(source, flags);
  const tryOn = (text: string) => {
    const short = text.slice(0, LONGEST_TRIED);
    expression.test(short);
    expression.test(`${short}:0`); // as places are written; what nearly matches is the slowest
  };

  for (const text of texts)
    if (text.includes("\n"))
      for (const line of text.split("\n")) {
        tryOn(line);
        tryOn(line.trim());
      }
    else tryOn(text);
}
