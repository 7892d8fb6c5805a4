/* One block of a page: base64 of a gzip stream. The browser does both. */

/* In browsers that have it, several times as fast as atob(). */
type FromBase64 = { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as FromBase64).fromBase64;
  if (native) return native(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);

  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

/* Why blocks cannot be read here, or null. */
export function inflateProblem(): string | null {
  return typeof DecompressionStream === "undefined"
    ? "This browser cannot unpack the page's data (it has no DecompressionStream): use Chrome or Edge 80, Firefox 113, Safari 16.4, or a later one."
    : null;
}

/* Not that of a Blob, whose bytes come from another process: a browser with a clock of its own does not wait for that. */
function streamOf(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
}

/* `length`: how many bytes the directory says, or null where it does not say. */
export async function inflate(text: string, length: number | null): Promise<Uint8Array> {
  const stream = streamOf(fromBase64(text)).pipeThrough(new DecompressionStream("gzip"));
  if (length === null) return new Uint8Array(await new Response(stream).arrayBuffer());
  const reader = stream.getReader();
  const bytes = new Uint8Array(length);
  let at = 0;

  for (;;) {
    const { done, value } = await reader.read();
    if (done) return bytes.subarray(0, at);
    if (at + value.length > length) throw new Error("a block is longer than the directory says");
    bytes.set(value, at);
    at += value.length;
  }
}
