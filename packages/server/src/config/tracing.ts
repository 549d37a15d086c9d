import type { Environment } from "./environment.ts";
import type { ConfigReader } from "./reader.ts";

/** How a process makes and sends trace spans (timed parts of traces), from the standard variables of OpenTelemetry. */
export type TracingSettings = {
  /**
   * The selection of the traces that are sent. `ratio`: the part of the traces, from 0 to 1. `followsParent`: true if the decision of a
   * caller counts.
   */
  readonly sampler: { readonly ratio: number; readonly followsParent: boolean };
  /** Maximum number of spans that wait. Further ones are dropped. */
  readonly queueMax: number;
  /** Maximum number of spans in one request. */
  readonly batchMax: number;
  /** Longest time in milliseconds for which a span waits for others. */
  readonly delayMs: number;
  /** Maximum duration of one request in milliseconds. */
  readonly timeoutMs: number;
};

const samplers = [
  ...(["parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio"] as const),
  ...(["always_on", "always_off", "traceidratio"] as const),
] as const;

/**
 * Returns how this process makes trace spans (timed parts of traces). Undefined if the variables name no receiver for traces, or turn
 * traces off.
 */
export function readTracing(reader: ConfigReader, environment: Environment): TracingSettings | undefined {
  const whole = reader.parsed("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", parseReceiver);
  const base = reader.parsed("OTEL_EXPORTER_OTLP_ENDPOINT", parseReceiver);
  const sampler = reader.choice("OTEL_TRACES_SAMPLER", samplers, "parentbased_always_on");
  const ratio = reader.parsed("OTEL_TRACES_SAMPLER_ARG", parseRatio) ?? 1;
  if ((whole ?? base) === undefined) return undefined;
  if (environment.get("OTEL_SDK_DISABLED") === "true" || environment.get("OTEL_TRACES_EXPORTER") === "none")
    return undefined;
  const number = (name: string, fallback: number) => {
    const value = Number(environment.get(name) ?? "");
    return Number.isSafeInteger(value) && value > 0 ? value : fallback;
  };
  const queueMax = number("OTEL_BSP_MAX_QUEUE_SIZE", 2_048);
  const part = sampler.endsWith("traceidratio") ? ratio : sampler.endsWith("on") ? 1 : 0;
  return {
    sampler: { ratio: part, followsParent: sampler.startsWith("parentbased") },
    queueMax,
    batchMax: Math.min(queueMax, number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512)),
    delayMs: number("OTEL_BSP_SCHEDULE_DELAY", 5_000),
    timeoutMs: number("OTEL_BSP_EXPORT_TIMEOUT", 30_000),
  };
}

/** Returns the address of an OpenTelemetry receiver. The text may contain a password, so error messages do not contain it. */
function parseReceiver(text: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? "")) return text;
  throw new Error("is not an http or https address, such as http://collector:4318");
}

function parseRatio(text: string): number {
  const ratio = Number(text);
  if (ratio >= 0 && ratio <= 1) return ratio;
  throw new Error(`"${text}" is not a number from 0 to 1`);
}
