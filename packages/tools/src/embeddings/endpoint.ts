import { type AddressGuard, AddressRefusedError, type Clock, isObject, readForeignText } from "@svc/core";
import { createGuardedAgent, type GuardedAgent } from "@svc/core/dial";
import type { EmbeddingsCall, EndpointOutcome } from "./observer.ts";
import { dimensionBounds, packVector, type Vector } from "./vectors.ts";

/** The endpoint that turns texts into vectors, from the deployment's configuration. */
export type EmbeddingsTarget = {
  /** Full URL of the embeddings endpoint, with its path (for example https://host/v1/embeddings). */
  readonly url: string;
  readonly model: string;
};

/** Client of the deployment's embeddings endpoint, which turns texts into vectors for the search by meaning. */
export type EmbeddingsEndpoint = EmbeddingsTarget & {
  /** Returns the vectors of texts, in the order of the texts. Throws EmbeddingsError. */
  embed(texts: readonly string[]): Promise<Vector[]>;
  /** Aborts all running requests to the embeddings endpoint. */
  close(): Promise<void>;
};

/**
 * Error for a failed request to the embeddings endpoint (which computes vectors of texts). The message completes a sentence about the
 * endpoint. It quotes neither the request nor the answer.
 */
export class EmbeddingsError extends Error {
  override readonly name = "EmbeddingsError";
  readonly kind: Exclude<EndpointOutcome, "ok">;

  constructor(kind: Exclude<EndpointOutcome, "ok">, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Dependencies and limits of the client of an embeddings endpoint. */
export type EndpointOptions = EmbeddingsTarget & {
  readonly guard: AddressGuard;
  /** Returns the current bearer token. Empty or undefined if the endpoint needs no token. */
  readonly key: () => Promise<string | undefined>;
  /** Maximum time until the complete answer has arrived, milliseconds. */
  readonly timeoutMs: number;
  /** Maximum texts per request. This maximum and the vector size limit how many bytes of an answer are read. */
  readonly textsMax: number;
  readonly connections: number;
  readonly clock: Clock;
  /** Called when a request to the embeddings endpoint has ended, with or without success. It is for logs and metrics. */
  readonly onCalled: (call: Omit<EmbeddingsCall, "what">) => void;
};

/** Maximum bytes of one number of a vector in JSON, including punctuation. It limits how many bytes of an answer are read. */
const numberBytes = 28;
const aroundBytes = 16_384;

/**
 * Creates the client of the embeddings endpoint. The client posts a few texts at a time, in the form of OpenAI's API. It checks the address
 * of the endpoint when it connects, and does not follow redirects.
 */
export function createEmbeddingsEndpoint(options: EndpointOptions): EmbeddingsEndpoint {
  const { url, model, guard, timeoutMs, textsMax, connections } = options;
  const agent = createGuardedAgent({
    ...{ guard, connections, connectTimeoutMs: timeoutMs, headersTimeoutMs: timeoutMs, bodyTimeoutMs: timeoutMs },
    responseBytesMax: textsMax * dimensionBounds.max * numberBytes + aroundBytes,
  });
  return {
    url,
    model,
    embed: (texts) => observed(options, () => embed(agent, options, texts)),
    close: () => agent.destroy(),
  };
}

async function observed({ clock, onCalled }: EndpointOptions, call: () => Promise<Vector[]>): Promise<Vector[]> {
  const startedAt = clock.now();
  const ended = (outcome: EndpointOutcome) => onCalled({ outcome, durationMs: Math.max(0, clock.now() - startedAt) });
  try {
    const vectors = await call();
    ended("ok");
    return vectors;
  } catch (error) {
    ended(error instanceof EmbeddingsError ? error.kind : "unreachable");
    throw error;
  }
}

async function embed(
  agent: GuardedAgent,
  { url, model, key, timeoutMs }: EndpointOptions,
  input: readonly string[],
): Promise<Vector[]> {
  const { origin, pathname, search } = new URL(url);
  const token = await readKey(key);
  try {
    const answer = await agent.request({
      ...{ origin, path: `${pathname}${search}`, method: "POST" },
      headers: {
        ...{ "content-type": "application/json", accept: "application/json", "user-agent": "svc/1" },
        ...(token !== "" && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ model, input, encoding_format: "float" }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const read = readForeignText(await answer.body.bytes());
    if (answer.statusCode !== 200) throw new EmbeddingsError("refused", `answered with status ${answer.statusCode}`);
    if ("fault" in read) throw new EmbeddingsError("malformed", "answered with data that is not text");
    return readAnswer(read.text, input.length);
  } catch (error) {
    throw error instanceof EmbeddingsError ? error : errorOf(error, timeoutMs);
  }
}

async function readKey(key: EndpointOptions["key"]): Promise<string> {
  try {
    return (await key()) ?? "";
  } catch {
    throw new EmbeddingsError("unkeyed", "is not used, because its key could not be read from the vault");
  }
}

function readAnswer(text: string, count: number): Vector[] {
  const data = dataOf(text);
  if (data === undefined)
    throw new EmbeddingsError("malformed", "answered without a JSON object that has a list in data");
  if (data.length !== count)
    throw new EmbeddingsError("malformed", `answered ${count} texts with ${data.length} vectors`);
  const vectors = new Map<number, Vector>();
  for (const [place, item] of data.entries()) {
    const { index = place, embedding } = isObject(item) ? (item as { index?: unknown; embedding?: unknown }) : {};
    const vector = packVector(embedding);
    if (vector === undefined || typeof index !== "number" || !(index >= 0 && index < count) || vectors.has(index))
      throw new EmbeddingsError(
        "malformed",
        `answered without a vector of ${dimensionBounds.min} to ${dimensionBounds.max} numbers for each text`,
      );
    vectors.set(index, vector);
  }
  const ordered = [...vectors].sort(([a], [b]) => a - b).map(([, vector]) => vector);
  const sizes = new Set(ordered.map(({ parts }) => parts.length));
  if (sizes.size > 1) throw new EmbeddingsError("malformed", "answered with vectors of different sizes");
  return ordered;
}

function dataOf(text: string): readonly unknown[] | undefined {
  try {
    const answer: unknown = JSON.parse(text);
    const data = isObject(answer) ? (answer as { data?: unknown }).data : undefined;
    return Array.isArray(data) ? data : undefined;
  } catch {
    return undefined;
  }
}

const timeouts: ReadonlySet<string> = new Set([
  ...["TimeoutError", "AbortError", "HeadersTimeoutError", "BodyTimeoutError", "ConnectTimeoutError"],
]);

function errorOf(error: unknown, timeoutMs: number): EmbeddingsError {
  if (error instanceof AddressRefusedError)
    return new EmbeddingsError("unreachable", "is at an address that svc does not connect to: see SVC_PROVIDER_CIDRS");
  const name = error instanceof Error ? error.name : "";
  if (timeouts.has(name)) return new EmbeddingsError("late", `did not answer within ${timeoutMs / 1_000} s`);
  if (name === "ResponseExceededMaxSizeError")
    return new EmbeddingsError("malformed", "answered with more bytes than such vectors have");
  return new EmbeddingsError("unreachable", "could not be reached");
}
