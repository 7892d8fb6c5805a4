/* A sentence of the page's own in which `commands` stand in backticks: shown as code, or plain where there is only text. */

import { Fragment } from "preact";

export function Sentence({ text }: { text: string }) {
  return (
    <>
      {text
        .split("`")
        .map((piece, i) => (i % 2 ? <code key={i}>{piece}</code> : <Fragment key={i}>{piece}</Fragment>))}
    </>
  );
}

export function plainSentence(text: string): string {
  return text.replaceAll("`", "");
}
