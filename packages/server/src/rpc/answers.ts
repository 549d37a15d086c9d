import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { DescMessage, Message } from "@bufbuild/protobuf";
import { isShared, LeastRecentlyUsed, Lines, type Principal, type Turns } from "@svc/core";
import { isLarge, writeJson } from "./answer-json.ts";
import type { Call } from "./call.ts";

/** The bytes of an answer, and the same compressed, made when they are first asked for. */
export type Answer = { readonly body: Buffer; gzip(): Promise<Buffer> };

/** What answers are written with. */
type AnswerOptions = { readonly turns: Turns; readonly jsonOptions: { readonly alwaysEmitImplicit: boolean } };

/** The line that a caller's requests wait in. */
export function lineOf(principal: Principal | undefined): string {
  return principal?.kind === "project" ? principal.projectId : (principal?.kind ?? "");
}

/** Bytes of answers that are kept: the lists and definitions that every caller is answered with. */
const keptBytesMax = 32 * 1_048_576;

/**
 * Writes what a call answers, if its caller may still make it: what is large when it is the caller's turn, long lists in slices, and a shared message
 * once for all callers. Resolves with undefined for an answer in the binary form, which is the caller's to write.
 */
export type WriteAnswer = (written: {
  readonly desc: DescMessage;
  readonly message: Message;
  readonly call: Call | undefined;
  readonly isJson: boolean;
}) => Promise<Answer | undefined>;

/** Makes the writer of a node's answers. */
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

/** Whether a request's content type is that of JSON: of those that calls take, all others are the binary form. */
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

/** Answers by their message; the one unused for longest goes when they become too many bytes. */
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

/** Compresses one answer at a time, projects in turn: each takes a core while it lasts, and the service has other use for them. */
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
