import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { create, type DescMessage, type Message } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { isShared, LeastRecentlyUsed, Lines, type Principal, type Turns } from "@svc/core";
import type { Answer } from "./answer.ts";
import { isLarge, writeJson } from "./answer-json.ts";
import { callContext } from "./call.ts";

/** What answers are written with. */
export type AnswerOptions = { readonly turns: Turns; readonly jsonOptions: { readonly alwaysEmitImplicit: boolean } };

/** The line that a caller's requests wait in. */
export function lineOf(principal: Principal | undefined): string {
  return principal?.kind === "project" ? principal.projectId : (principal?.kind ?? "");
}

/** Bytes of answers that are kept: the lists and definitions that every caller is answered with. */
const keptBytesMax = 32 * 1_048_576;

/**
 * The interceptor that writes what calls answer as JSON, in place of Connect, and leaves it with the call: what is large when it is
 * the caller's turn, long lists in slices, and a shared message once for all callers. Connect gets an empty message to write instead.
 */
export function createAnswerInterceptor({ turns, jsonOptions }: AnswerOptions): Interceptor {
  const kept = createKept();
  const compress = createCompressor();
  return (next) => async (req) => {
    const res = await next(req);
    if (res.stream) return res;
    const call = req.contextValues.get(callContext);
    const line = lineOf(call?.principal);
    const takeTurn = () => turns.take(line);
    const message = res.message as Message;
    const desc: DescMessage = res.method.output;
    let answer = kept.get(message);
    const turn = answer === undefined && isLarge(desc, message) ? takeTurn() : undefined;
    if (turn !== undefined) await turn;
    if (call === undefined || !isJson(req.header.get("content-type"))) return res;
    if (answer === undefined) {
      const written = writeJson(desc, message, jsonOptions, takeTurn);
      answer = createAnswer(written instanceof Promise ? await written : written, (body) => compress(line, body));
      if (isShared(message)) kept.put(message, answer);
    }
    call.answer = answer;
    return { ...res, message: emptyOf(desc) };
  };
}

function isJson(contentType: string | null): boolean {
  return contentType !== null && /^application\/json/i.test(contentType);
}

const empties = new Map<DescMessage, Message>();

function emptyOf(desc: DescMessage): Message {
  let empty = empties.get(desc);
  if (empty === undefined) {
    empty = create(desc);
    empties.set(desc, empty);
  }
  return empty;
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
