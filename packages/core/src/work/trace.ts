/** Kind of a span, as OpenTelemetry defines it. */
type SpanKind = "internal" | "server" | "client" | "producer" | "consumer";

/**
 * Attributes of a span. They contain ids, words of fixed sets and numbers. They never contain secrets, payloads, or names and texts that
 * projects chose.
 */
export type SpanFacts = Readonly<Record<string, string | number | boolean | undefined>>;

/** A span that begins. */
export type SpanStart = {
  readonly name: string;
  /** Default: `internal`. */
  readonly kind?: SpanKind;
  /**
   * The span that caused this one, as a W3C `traceparent`. Null, or a text of another form, begins a new trace. Default: the span in which
   * the code runs.
   */
  readonly parent?: string | null;
  /**
   * Other spans that caused this one, as W3C `traceparent`. Used instead of a parent if one span causes many, or many cause one. Texts of
   * another form are ignored.
   */
  readonly links?: readonly (string | null | undefined)[];
  readonly facts?: SpanFacts;
  /** Time that the work of the span has already taken, in milliseconds. Default 0. */
  readonly tookMs?: number;
};

/** A span that has begun. A span that is never ended is not exported. */
export type Span = {
  /** The span as a W3C `traceparent`, for other processes and for rows that later work reads. */
  readonly traceparent: string;
  note(facts: SpanFacts): void;
  /** Ends the span. `error`: a word for what failed; undefined if nothing did. Only the first call has an effect. */
  end(error?: string): void;
};

/** Makes spans. packages/server has the only implementation, which sends them to an OpenTelemetry receiver. */
export type Tracer = {
  begin(start: SpanStart): Span;
  /** Runs work, so that spans which begin in it have `span` as their parent. */
  within<Result>(span: Span, work: () => Result): Result;
  /** Returns the span in which the code runs. */
  current(): Span | undefined;
};

// There is one tracer for each process, because the variables of OpenTelemetry configure a process. Without a tracer, nothing is allocated.
let tracer: Tracer | undefined;

/** Sets the tracer of this process, or removes it if it is undefined. */
export function useTracer(given: Tracer | undefined): void {
  tracer = given;
}

/** True if this process makes spans. Frequent callers check this first, so that they do not create the inputs of a span for nothing. */
export function isTraced(): boolean {
  return tracer !== undefined;
}

/**
 * Begins a span (a timed part of a trace) that `describe` makes from `subject`, for example from an API call. Returns undefined, without
 * calling `describe`, if this process makes no spans.
 */
export function beginSpan<Subject>(describe: (subject: Subject) => SpanStart, subject: Subject): Span | undefined {
  return tracer?.begin(describe(subject));
}

/** Runs work, so that spans which begin in it have `span` as their parent. */
export function withinSpan<Result>(span: Span | undefined, work: () => Result): Result {
  return span === undefined || tracer === undefined ? work() : tracer.within(span, work);
}

/**
 * Runs `work` within a span, and ends the span when the work ends. `errorOf`: returns the error word of the span for a result that is a
 * failure. If the work rejects, this function rejects with the same error, and the span's error is the name of the error's class.
 */
export function spanned<Result>(
  span: Span | undefined,
  work: () => Promise<Result>,
  errorOf?: (result: Result) => string | undefined,
): Promise<Result> {
  return span === undefined ? work() : endedWith(span, work, errorOf);
}

async function endedWith<Result>(
  span: Span,
  work: () => Promise<Result>,
  errorOf: ((result: Result) => string | undefined) | undefined,
): Promise<Result> {
  try {
    const result = await withinSpan(span, work);
    span.end(errorOf?.(result));
    return result;
  } catch (error) {
    span.end(error instanceof Error ? error.name : "error");
    throw error;
  }
}

/** Returns the span in which the code runs, as a W3C `traceparent`. Undefined if there is none. */
export function currentTrace(): string | undefined {
  return tracer?.current()?.traceparent;
}

/**
 * Describes the span of a claim: a database query with which a node takes due work. `of`: the kind of the work. `claimed`: the number of
 * rows taken. `tookMs`: duration of the query in milliseconds.
 */
export function claimSpan(claim: {
  readonly of: string;
  readonly claimed: number;
  readonly tookMs: number;
}): SpanStart {
  return { name: `claim ${claim.of}`, parent: null, tookMs: claim.tookMs, facts: { "svc.claimed": claim.claimed } };
}
