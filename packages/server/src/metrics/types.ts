import type { BlockedLoop } from "@svc/core";
import type {
  AskObservation,
  AttemptObservation,
  CallObservation,
  DecidedRun,
  EmbeddingsCall,
  EndedJob,
  EndpointAuthOutcome,
  EventPollObservation,
  FilterObservation,
  ParkedJob,
  RenewalObservation,
  ReplayStep,
  SearchOutcome,
  SourceReading,
  UpstreamRequest,
} from "@svc/node";
import type { MetricObjectWithValues, MetricValue } from "prom-client";
import type { PostOutcome } from "../http/webhooks.ts";
import type { Call } from "../rpc/call.ts";

/** Values of metrics, in the form in which prom-client can add them up. */
export type MetricValues = readonly MetricObjectWithValues<MetricValue<string>>[];

/** The content of `/metrics`. Labels have few values: toolkits (apps), methods, and closed sets of outcomes, codes and states. */
export type Metrics = {
  readonly contentType: string;
  /** Returns the metrics in Prometheus' text format. */
  text(): Promise<string>;
  /** Returns the metrics as values, so that they can be added to those of other processes. */
  values(): Promise<MetricValues>;
  /** Counts an answered webhook post. `toolkitSlug` is empty if the toolkit (app) is unknown. */
  posted(toolkitSlug: string, outcome: PostOutcome, durationMs: number): void;
  called(call: Call, durationMs: number): void;
  /** Counts an event that a project published. */
  eventPublished(outcome: "stored" | "duplicate" | "refused"): void;
  /** Counts a poll of events that was answered. */
  eventsPolled(poll: EventPollObservation): void;
  /** Counts the filters of subscriptions that were applied to an event, and adds up how long this took. */
  eventFiltered(filtered: FilterObservation): void;
  /** Counts an import or a refresh of a toolkit. */
  sourceRead(reading: SourceReading): void;
  /** Counts a request to an MCP server. */
  upstreamAsked(request: UpstreamRequest): void;
  /** Counts a search for tools. */
  toolsSearched(confidence: "high" | "medium" | "low" | "none"): void;
  attempted(attempt: AttemptObservation): void;
  /** Records a tool call that has ended: its outcome and its duration. */
  toolCalled(call: CallObservation): void;
  /** Counts a call to the embeddings endpoint that has ended. */
  embeddingsCalled(call: EmbeddingsCall): void;
  /** Counts a search for tools. `outcome`: says if the search used the embedding (vector) of its words, or only the words. */
  searchedByMeaning(outcome: SearchOutcome): void;
  /** Counts a request to an app for a new access token. */
  renewed(renewal: RenewalObservation): void;
  /** Counts a job that has ended. */
  jobEnded(job: EndedJob): void;
  /** Counts a job that the service or an administrator parked (paused until it is resumed). */
  jobParked(job: ParkedJob): void;
  /** Counts a job whose lease (time-limited claim) was lost while this node was running the job. */
  jobLeaseLost(): void;
  /** Records that some work blocked the event loop of this node for too long, with the cause. */
  heldLoop(held: BlockedLoop): void;
  /**
   * Counts a failure of the job engine. `what`: the work that failed, such as claiming due jobs or renewing leases (a node's time-limited
   * rights to tasks).
   */
  jobEngineFailed(what: string): void;
  /** Counts an ask (a question of a job to a person) that was answered, or whose time expired so that its default answer was applied. */
  askSettled(ask: AskObservation): void;
  /**
   * Counts a decision about a run of a standing program (a program that starts jobs on a schedule or event). The run starts, waits, is
   * skipped or is refused.
   */
  standingDecided(run: DecidedRun): void;
  /** Counts a finished poll of a standing program (a schedule). */
  standingPolled(outcome: string): void;
  /** Counts a standing program (a schedule) that paused by itself. `reason`: why it paused. */
  standingPaused(reason: string): void;
  /** Counts schedules that had lost their planned occurrence and got a new one. */
  standingRearmed(count: number): void;
  /**
   * Counts a failure of the engine of standing programs (which start jobs on a schedule or event). `what`: the work that failed, such as
   * claiming, deciding or cancelling.
   */
  standingFailed(what: string): void;
  /** Counts a step of a throttled replay. */
  replayStepped(step: ReplayStep): void;
  /** Counts a failed step of a throttled replay. */
  replayFailed(): void;
  leasesLost(count: number): void;
  /** Counts a request for an access token of an endpoint, or a refused access token. */
  endpointAuthenticated(outcome: EndpointAuthOutcome): void;
  /** Counts a failure of the delivery engine. `what`: the work that failed, such as claiming due deliveries or recording their results. */
  engineFailed(what: string): void;
};
