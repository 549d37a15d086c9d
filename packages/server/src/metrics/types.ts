import type { BlockedLoop } from "@svc/core";
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

/** Values of metrics, in prom-client's form for aggregation. */
export type MetricValues = readonly MetricObjectWithValues<MetricValue<string>>[];

/** The content of `/metrics`. Labels have few values: toolkits, methods, and closed sets of outcomes, codes and states. */
export type Metrics = {
  readonly contentType: string;
  /** Returns the metrics in Prometheus' text format. */
  text(): Promise<string>;
  /** Returns the metrics as values, so that they can be added to those of other processes. */
  values(): Promise<MetricValues>;
  /** Counts an answered post. `toolkitSlug` is empty if the toolkit is unknown. */
  posted(toolkitSlug: string, outcome: PostOutcome): void;
  called(call: Call, durationMs: number): void;
  attempted(attempt: AttemptObservation): void;
  /** A call of a tool ended. */
  toolCalled(call: CallObservation): void;
  /** A call to the embeddings endpoint ended. */
  embeddingsCalled(call: EmbeddingsCall): void;
  /** Counts a search. `outcome`: whether it used the vector of its words, or only the words. */
  searchedByMeaning(outcome: SearchOutcome): void;
  /** Counts a request to an app for a new access token. */
  renewed(renewal: RenewalObservation): void;
  /** A job ended. */
  jobEnded(job: EndedJob): void;
  /** A job was parked by the service or an administrator. */
  jobParked(job: ParkedJob): void;
  /** A job's lease was lost while its driver ran. */
  jobLeaseLost(): void;
  /** The event loop was blocked. */
  heldLoop(held: BlockedLoop): void;
  /** The job engine failed to claim, renew, drive or do a task. */
  jobEngineFailed(what: string): void;
  /** An ask was answered, or its default was applied. */
  askSettled(ask: AskObservation): void;
  /** Counts a decision about a run of a standing program. */
  standingDecided(run: DecidedRun): void;
  /** A poll of a standing program has ended. */
  standingPolled(outcome: string): void;
  /** A standing program paused by itself. */
  standingPaused(reason: string): void;
  /** Schedules without a planned occurrence were armed again. */
  standingRearmed(count: number): void;
  /** The engine of standing programs failed to claim, decide or cancel. */
  standingFailed(what: string): void;
  /** A throttled replay made a step. */
  replayStepped(step: ReplayStep): void;
  /** A step of a throttled replay failed. */
  replayFailed(): void;
  leasesLost(count: number): void;
  /** The delivery engine failed to claim, settle, release, expire or record health. */
  engineFailed(what: string): void;
};
