import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { DescMessage, Message } from "@bufbuild/protobuf";
import { isShared, LeastRecentlyUsed, Lines, type Principal, type Turns } from "@svc/core";
import { isLarge, writeJson } from "./answer-json.ts";
import type { Call } from "./call.ts";

/** `body`: bytes of an answer. `gzip`: returns the compressed bytes, which are created at the first call. */
export type Answer = { readonly body: Buffer; gzip(): Promise<Buffer> };

/** Dependencies of the code that writes API responses as JSON. */
type AnswerOptions = { readonly turns: Turns; readonly jsonOptions: { readonly alwaysEmitImplicit: boolean } };

/** Returns the name of the queue in which a caller's work waits for its turn: one for each project. */
export function lineOf(principal: Principal | undefined): string {
  return principal?.kind === "project" ? principal.projectId : (principal?.kind ?? "");
}

/** Maximum total size of cached answers, in bytes. Only answers that are equal for all callers are cached, such as lists of definitions. */
const keptBytesMax = 32 * 1_048_576;

/**
 * Writes the answer of a call and returns it. Returns undefined if the client wants the binary form, which is written elsewhere. Rejects if
 * the caller of the API has lost its permission. A large answer is written when the event loop has time for the caller's project. A message
 * that all callers get is written only once.
 */
export type WriteAnswer = (written: {
  readonly desc: DescMessage;
  readonly message: Message;
  readonly call: Call | undefined;
  readonly isJson: boolean;
}) => Promise<Answer | undefined>;

/**
 * Creates the function that writes the answers of a node's API calls. Large answers wait for a turn on the event loop, so that they do not
 * delay small ones.
 */
export function createAnswerWriter({ turns, jsonOptions }: AnswerOptions): WriteAnswer {
  const kept = createKept();
  const compress = createCompressor();
  return async ({ desc, message, call, isJson }) => {
    const confirmed = call?.confirm?.();
    if (confirmed !== undefined) await confirmed;
    const line = lineOf(call?.principal);
    const takeTurn = () => turns.take(line);
    const known = kept.get(message);
    const turn = known === undefined && isLarge(desc, message) ? takeTurn() : undefined;
    if (turn !== undefined) await turn;
    if (!isJson) return undefined;
    if (known !== undefined) return known;
    const body = writeJson(desc, message, jsonOptions, takeTurn);
    const answer = createAnswer(body instanceof Promise ? await body : body, (bytes) => compress(line, bytes));
    if (isShared(message)) kept.put(message, answer);
    return answer;
  };
}

/** True if the content type of a request is JSON. All other supported types mean the binary form. */
export function isJsonType(contentType: string | null | undefined): boolean {
  return contentType != null && /^application\/json/i.test(contentType);
}

function createAnswer(body: Buffer, compress: (body: Buffer) => Promise<Buffer>): Answer {
  let compressed: Promise<Buffer> | undefined;
  return {
    body,
    gzip() {
      compressed ??= compress(body);
      return compressed;
    },
  };
}

/**
 * Returns a cache of encoded API answers, by message. If the answers exceed the maximum size in bytes, the least recently used answer is
 * removed.
 */
function createKept(): { get(message: Message): Answer | undefined; put(message: Message, answer: Answer): void } {
  let bytes = 0;
  const answers = new LeastRecentlyUsed<Message, Answer>(Number.POSITIVE_INFINITY, ({ body }) => {
    bytes -= body.byteLength;
  });
  return {
    get: (message) => (isShared(message) ? answers.get(message) : undefined),
    put(message, answer) {
      bytes += answer.body.byteLength;
      answers.set(message, answer);
      while (bytes > keptBytesMax && answers.evict());
    },
  };
}

const gzipBytes = promisify(gzip);

/** Returns a function that compresses one answer at a time, because each compression occupies a CPU core. The projects take turns. */
function createCompressor(): (line: string, body: Buffer) => Promise<Buffer> {
  const waiting = new Lines<() => void>();
  let isBusy = false;
  return async (line, body) => {
    if (isBusy) await new Promise<void>((resolve) => waiting.add(line, resolve));
    isBusy = true;
    try {
      return await gzipBytes(body);
    } finally {
      const next = waiting.next();
      if (next === undefined) isBusy = false;
      else next();
    }
  };
}
