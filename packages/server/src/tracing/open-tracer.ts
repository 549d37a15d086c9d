// Only this file imports the libraries of OpenTelemetry. tracing.ts imports it if the operator has set a receiver for traces.
import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Span as ApiSpan,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { type Clock, createMinuteCount, type Span, type SpanFacts, type SpanStart, type Tracer } from "@svc/core";
import type { TracingSettings } from "../config/tracing.ts";
import type { Logger } from "../logger.ts";
import { version } from "../version.ts";

/**
 * Returns the tracer of this process, and a function that sends the spans which are left and closes the connection. The libraries read some
 * standard variables themselves: the receiver, its headers and certificates, and the name and the attributes of the service.
 */
export function openTracer(
  settings: TracingSettings,
  parts: { readonly clock: Clock; readonly logger: Logger; readonly nodeId: string },
): { readonly tracer: Tracer; shutdown(): Promise<void> } {
  reportFaults(parts);
  const own = { "service.name": "svc", "service.version": version, "service.instance.id": parts.nodeId };
  const processor = new BatchSpanProcessor({
    exporter: new OTLPTraceExporter(),
    maxQueueSize: settings.queueMax,
    maxExportBatchSize: settings.batchMax,
    scheduledDelayMillis: settings.delayMs,
    exportTimeoutMillis: settings.timeoutMs,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes(own).merge(detectResources({ detectors: [envDetector] })),
    sampler: samplerOf(settings),
    spanProcessors: [processor],
  });
  const spans = provider.getTracer("svc", version);
  const present = new AsyncLocalStorage<OpenSpan>();
  return {
    tracer: {
      begin({ name, kind = "internal", parent, links = [], facts = {}, tookMs = 0 }) {
        const cause = parent === undefined ? present.getStore()?.context : readTraceparent(parent);
        const within = cause === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, cause);
        const options = {
          kind: kinds[kind],
          attributes: facts,
          links: links.slice(0, linksMax).flatMap((text) => linkOf(text)),
          startTime: performance.now() - tookMs,
        };
        return new OpenSpan(spans.startSpan(name, options, within));
      },
      within: (span, work) => (span instanceof OpenSpan ? present.run(span, work) : work()),
      current: () => present.getStore(),
    },
    shutdown: () => provider.shutdown(),
  };
}

function samplerOf({ sampler: { ratio, followsParent } }: TracingSettings): Sampler {
  const root = new TraceIdRatioBasedSampler(ratio);
  return followsParent ? new ParentBasedSampler({ root }) : root;
}

/** Maximum number of links of a span, as the specification of OpenTelemetry sets it. */
const linksMax = 128;

const kinds: Readonly<Record<NonNullable<SpanStart["kind"]>, SpanKind>> = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};

class OpenSpan implements Span {
  readonly context: SpanContext;
  readonly #span: ApiSpan;
  #isEnded = false;

  constructor(span: ApiSpan) {
    this.#span = span;
    this.context = span.spanContext();
  }

  get traceparent(): string {
    const { traceId, spanId, traceFlags } = this.context;
    return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
  }

  note(facts: SpanFacts): void {
    this.#span.setAttributes(facts);
  }

  end(error?: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    if (error !== undefined)
      this.#span.setAttribute("error.type", error).setStatus({ code: SpanStatusCode.ERROR, message: error });
    this.#span.end();
  }
}

/** Returns the span that a W3C `traceparent` names. Undefined for another text, and for ids of zeros, which name no span. */
function readTraceparent(text: string | null): SpanContext | undefined {
  const [, traceId = "", spanId = "", flags = ""] =
    /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/.exec(text ?? "") ?? [];
  if (traceId === "") return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

function linkOf(text: string | null | undefined) {
  const context = readTraceparent(text ?? null);
  return context === undefined ? [] : [{ context }];
}

/**
 * Logs faults of the libraries, such as a receiver that does not answer, once a minute. Their texts may quote the receiver, so they are left
 * out.
 */
function reportFaults({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }): void {
  const beyondMinute = createMinuteCount({ clock, most: 1 });
  const report = () => {
    if (beyondMinute("") === undefined) logger.warn("spans could not be sent to OTEL_EXPORTER_OTLP_ENDPOINT");
  };
  const ignore = () => {};
  diag.setLogger({ error: report, warn: ignore, info: ignore, debug: ignore, verbose: ignore }, DiagLogLevel.ERROR);
}
