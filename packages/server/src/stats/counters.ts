import type { Clock, ProjectId } from "@svc/core";
import type { ActivityCount } from "@svc/db/activity/write";
import type { AttemptObservation, CallObservation, EndedJob } from "@svc/node";
import { type ActivitySeries, bucketBounds, bucketOf } from "./query.ts";

/** Activity counts of this node that are not in the database yet. */
export type Counters = {
  /** Counts a stored event. */
  stored(projectId: ProjectId, toolkitSlug: string): void;
  attempted(attempt: AttemptObservation): void;
  toolCalled(call: CallObservation): void;
  jobEnded(job: EndedJob): void;
  /**
   * Returns the activity counts by minute, and removes them from the counters. Each combination of minute, project, series (such as
   * `calls`), subject (such as one tool) and outcome occurs once.
   */
  take(): ActivityCount[];
  /** Adds activity counts (such as numbers of events and calls) back to the counters, because they could not be stored in the database. */
  giveBack(counts: readonly ActivityCount[]): void;
};

/**
 * Maximum number of subscriptions and tools of one project that are counted separately before the counts are stored. Others count only in
 * the totals of the project.
 */
const subjectsMax = 1_000;
const minuteMs = 60_000;

/**
 * Activity counts of one project in one minute. `bySubject`: the counts by series (such as `calls`) and subject (such as one tool), and
 * then by outcome. `subjects`: number of subjects that are counted separately.
 */
type Tallies = { readonly bySubject: Map<string, Map<string, number>>; subjects: number };

const bucketNames = Array.from({ length: bucketBounds.length + 1 }, (_, index) => String(index));

/** Creates the counters of a node. Counting one call or delivery takes only a few map lookups. */
export function createCounters({ clock }: { readonly clock: Clock }): Counters {
  let minutes = new Map<number, Map<ProjectId, Tallies>>();
  let current: { readonly at: number; readonly projects: Map<ProjectId, Tallies> } | undefined;
  const projectsAt = (at: number) => {
    const projects = minutes.get(at) ?? new Map<ProjectId, Tallies>();
    minutes.set(at, projects);
    return projects;
  };
  const talliesOf = (projectId: ProjectId): Tallies => {
    const nowMs = clock.now();
    if (current === undefined || nowMs >= current.at + minuteMs || nowMs < current.at) {
      const at = nowMs - (nowMs % minuteMs);
      current = { at, projects: projectsAt(at) };
    }
    return talliesIn(current.projects, projectId);
  };
  const add = (tallies: Tallies, key: string, outcome: string, count: number) => {
    const tally = tallies.bySubject.get(key);
    if (tally === undefined) tallies.bySubject.set(key, new Map([[outcome, count]]));
    else tally.set(outcome, (tally.get(outcome) ?? 0) + count);
  };
  const addBoth = (tallies: Tallies, series: ActivitySeries, subject: string, outcome: string) => {
    add(tallies, series, outcome, 1);
    const key = `${series} ${subject}`;
    if (!tallies.bySubject.has(key) && ++tallies.subjects > 2 * subjectsMax) return;
    add(tallies, key, outcome, 1);
  };
  return {
    stored: (projectId, toolkitSlug) => add(talliesOf(projectId), "events", toolkitSlug, 1),
    attempted({ projectId, subscriptionId, state, sinceReceivedMs }) {
      const tallies = talliesOf(projectId);
      addBoth(tallies, "deliveries", subscriptionId, state === "pending" ? "retried" : state);
      if (state !== "delivered") return;
      addBoth(tallies, "delivery_latency", subscriptionId, bucketNames[bucketOf(sinceReceivedMs)] ?? "0");
    },
    toolCalled({ projectId, toolSlug, outcome, providerStatus, durationMs }) {
      const tallies = talliesOf(projectId);
      addBoth(tallies, "calls", toolSlug, outcome);
      if (providerStatus > 0) addBoth(tallies, "call_latency", toolSlug, bucketNames[bucketOf(durationMs)] ?? "0");
    },
    jobEnded: ({ projectId, status }) => add(talliesOf(projectId), "jobs", status, 1),
    take() {
      const counts = [...countsOf(minutes)];
      minutes = new Map();
      current = undefined;
      return counts;
    },
    giveBack(counts) {
      for (const { projectId, series, subject, at, outcome, count } of counts) {
        const tallies = talliesIn(projectsAt(at), projectId);
        add(tallies, subject === "" ? series : `${series} ${subject}`, outcome, count);
      }
    },
  };
}

function talliesIn(projects: Map<ProjectId, Tallies>, projectId: ProjectId): Tallies {
  const known = projects.get(projectId);
  if (known !== undefined) return known;
  const made: Tallies = { bySubject: new Map(), subjects: 0 };
  projects.set(projectId, made);
  return made;
}

function* countsOf(minutes: ReadonlyMap<number, ReadonlyMap<ProjectId, Tallies>>): Generator<ActivityCount> {
  for (const [at, projects] of minutes) {
    for (const [projectId, { bySubject }] of projects) {
      for (const [key, tally] of bySubject) {
        const [series = "", subject = ""] = key.split(" ");
        for (const [outcome, count] of tally) yield { projectId, series, subject, at, outcome, count };
      }
    }
  }
}
