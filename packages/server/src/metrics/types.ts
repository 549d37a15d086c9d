import type { HeldLoop } from "@svc/core";
import type {
  AskObservation,
  AttemptObservation,
  CallObservation,
  DecidedRun,
  EmbeddingsCall,
  EndedJob,
  ParkedJob,
  RenewalObservation,
  ReplayStep,
  SearchOutcome,
} from "@svc/node";
import type { MetricObjectWithValues, MetricValue } from "prom-client";
import type { PostOutcome } from "../http/webhooks.ts";
import type { Call } from "../rpc/call.ts";

/** Values of metrics, as prom-client aggregates them. */
export type MetricValues = readonly MetricObjectWithValues<MetricValue<string>>[];

/** What `/metrics` shows. Labels have few values: toolkits, methods, and outcomes, codes and states from closed sets. */
export type Metrics = {
  readonly contentType: string;
  /** Prometheus' text format. */
  text(): Promise<string>;
  /** The same as values, to be summed with those of other processes. */
  values(): Promise<MetricValues>;
  /** A post was answered; `toolkitSlug` is that of a toolkit, or empty. */
  posted(toolkitSlug: string, outcome: PostOutcome): void;
  called(call: Call, durationMs: number): void;
  attempted(attempt: AttemptObservation): void;
  /** A call of a tool ended. */
  toolCalled(call: CallObservation): void;
  /** A call to the embeddings endpoint ended. */
  embeddingsCalled(call: EmbeddingsCall): void;
  /** A search had the vector of its words, or did without. */
  searchedByMeaning(outcome: SearchOutcome): void;
  /** An app was asked for a new token. */
  renewed(renewal: RenewalObservation): void;
  /** A job came to its end. */
  jobEnded(job: EndedJob): void;
  /** A job was parked by the service or an administrator. */
  jobParked(job: ParkedJob): void;
  /** A job's lease was lost under its driver. */
  jobLeaseLost(): void;
  /** Somebody held the event loop. */
  heldLoop(held: HeldLoop): void;
  /** The job engine could not claim, renew, drive or do a task. */
  jobEngineFailed(what: string): void;
  /** An ask was answered, or its default was applied. */
  askSettled(ask: AskObservation): void;
  /** A run of a standing program was decided about. */
  standingDecided(run: DecidedRun): void;
  /** A poll of a standing program has ended. */
  standingPolled(outcome: string): void;
  /** A standing program paused by itself. */
  standingPaused(reason: string): void;
  /** Schedules were armed again that nothing stood for. */
  standingRearmed(count: number): void;
  /** The engine of standing programs could not claim, decide or cancel. */
  standingFailed(what: string): void;
  /** A paced replay took a step. */
  replayStepped(step: ReplayStep): void;
  /** A step of a paced replay failed. */
  replayFailed(): void;
  leasesLost(count: number): void;
  /** The delivery engine could not claim, settle, release, expire or note health. */
  engineFailed(what: string): void;
};
