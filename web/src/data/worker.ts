/* The worker: takes questions and sends the answers back. */

import { answer } from "./answer";
import type { Question, Questions } from "./work";

export interface Message<Q extends Question = Question> {
  id: number;
  question: Q;
  ask: Questions[Q]["ask"];
}

export type Answer = { id: number; reply: unknown } | { id: number; error: string };

/* The memory of the arrays in a reply moves to the page instead of being copied. */
function memoryOf(value: unknown, found = new Set<ArrayBuffer>()): Set<ArrayBuffer> {
  if (ArrayBuffer.isView(value)) found.add(value.buffer as ArrayBuffer);
  else if (value && typeof value === "object") for (const part of Object.values(value)) memoryOf(part, found);
  return found;
}

async function reply(message: Message): Promise<void> {
  try {
    const said = await answer(message.question, message.ask);
    self.postMessage({ id: message.id, reply: said } satisfies Answer, { transfer: [...memoryOf(said)] });
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    self.postMessage({ id: message.id, error: text } satisfies Answer);
  }
}

self.addEventListener("message", (event: MessageEvent<Message>) => void reply(event.data));
