import { setImmediate } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import {
  checkFilterText,
  createSlices,
  type Id,
  type IdPrefix,
  isRowInScope,
  isWithin,
  type ProjectPrincipal,
  parseId,
  type StandingProgramId,
  type SubscriptionId,
  timeOfId,
} from "@svc/core";
import { readNewOfProject, type WatchedKind } from "@svc/db/activity/changes";
import { readEndpoints } from "@svc/db/activity/trace";
import { asksForProject } from "@svc/db/asks/repo";
import { toolCallsForProject } from "@svc/db/calls/repo";
import { connectedAccountsForProject } from "@svc/db/connections/repo";
import { contactsForProject } from "@svc/db/contacts/repo";
import { deliveriesForProject } from "@svc/db/deliveries/repo";
import { eventsForProject } from "@svc/db/events/repo";
import { readJobBindings } from "@svc/db/jobs/principals";
import { jobsForProject } from "@svc/db/jobs/repo";
import { skillsForProject } from "@svc/db/skills/repo";
import { readStandingPrograms, standingProgramsForProject } from "@svc/db/standing/programs";
import { standingRunsForProject } from "@svc/db/standing/runs";
import { subscriptionsForProject } from "@svc/db/subscriptions/repo";
import { type SearchRequest, type SearchResponse, SearchResponseSchema, TraceKind } from "@svc/gen/stats";
import { serverFaults } from "../../errors.ts";
import { nodeMessage } from "./graph.ts";
import {
  accountNode,
  askNode,
  callNode,
  deliveryNode,
  endpointNode,
  eventNode,
  jobNode,
  personNode,
  runNode,
  savedToolNode,
  scheduleNode,
  type TracedNode,
} from "./nodes.ts";
import type { TraceContext } from "./trace.ts";

/** Default and largest number of results. */
const resultsDefault = 20;
const resultsMax = 50;
/** Smallest number of characters of an id's end by which svc searches. */
const endMin = 4;
/** Maximum number of jobs whose titles a search reads, number that it reads at once, and maximum size of their programs in bytes. */
const titles = { max: 2_000, atOnce: 100, bytesMax: 8_388_608 };
/** Maximum number of subscriptions, schedules and people that a search reads, and number that it reads at once. */
const names = { max: 5_000, atOnce: 500, bytesMax: Number.POSITIVE_INFINITY };

type Caller = Pick<ProjectPrincipal, "projectId" | "binding">;
type Searching = TraceContext & Caller;

/** The result of one part of a search. `isPartial`: true if more resources of its kind may match. */
type Found = { readonly nodes: readonly TracedNode[]; readonly isPartial: boolean };
type Finder = (searching: Searching, query: string, limit: number) => Promise<Found>;

/**
 * Returns the answer of the API call Search. Each kind of resource is searched with the query that also lists it, so a scoped key finds
 * only what it can list. Throws FILTER_TEXT_INVALID and SEARCH_LIMIT_INVALID.
 */
export async function search(context: TraceContext, caller: Caller, request: SearchRequest): Promise<SearchResponse> {
  const query = checkFilterText("query", request.query).trim();
  if (request.limit > resultsMax) throw serverFaults.SEARCH_LIMIT_INVALID(request.limit, resultsMax);
  const limit = request.limit || resultsDefault;
  if (query.length < 2) return create(SearchResponseSchema);
  const isWanted = (kind: TraceKind) => request.kinds.length === 0 || request.kinds.includes(kind);
  const searching = { ...context, projectId: caller.projectId, binding: caller.binding };
  const byId = await findByBeginning(searching, query);
  if (byId !== undefined) {
    const nodes = byId.filter(({ kind }) => isWanted(kind)).map(nodeMessage);
    return create(SearchResponseSchema, { results: nodes });
  }
  const parts = [...finders].filter(([kind]) => isWanted(kind));
  const [ends, ...texts] = await Promise.all([
    findByEnd(searching, query, isWanted),
    ...parts.map(async ([kind, find]) => ({ kind, ...(await find(searching, query.toLowerCase(), limit)) })),
  ]);
  const byEnd = new Set(ends.map(keyOf));
  const others = texts.map((text) => ({ ...text, nodes: text.nodes.filter((node) => !byEnd.has(keyOf(node))) }));
  const results = fairShare([ends, ...others.map(({ nodes }) => nodes)], limit);
  const isCut = ({ nodes, isPartial }: Found) => isPartial || nodes.some((node) => !results.includes(node));
  const partial = others.filter(isCut).map(({ kind }) => kind);
  return create(SearchResponseSchema, { results: results.map(nodeMessage), partial });
}

/** Returns a text that only this resource has. A saved tool and a person may have the same id, because their ids are names. */
function keyOf({ kind, id }: TracedNode): string {
  return `${kind} ${id}`;
}

/** Returns at most `limit` nodes: as many of each list as of the others, if the list has so many. Keeps the order of the lists. */
function fairShare(lists: readonly (readonly TracedNode[])[], limit: number): TracedNode[] {
  const places = lists.flatMap((nodes, list) => nodes.map((node, place) => ({ node, list, place })));
  const taken = places.sort((a, b) => a.place - b.place).slice(0, limit);
  return taken.sort((a, b) => a.list - b.list || a.place - b.place).map(({ node }) => node);
}

/** The ids of one kind. `byId`: reads the resource. `below`: returns the newest id below an id, if a list can find it. */
type IdKind = {
  readonly prefix: IdPrefix;
  readonly byId: (searching: Searching, id: string) => Promise<TracedNode | undefined>;
  readonly below?: (searching: Searching, before: string) => Promise<string | undefined>;
};

function idKind<P extends IdPrefix>(
  prefix: P,
  read: (searching: Searching, id: Id<P>) => Promise<TracedNode | undefined>,
  newest?: (searching: Searching, page: { after: Id<P>; limit: number }) => Promise<readonly { readonly id: string }[]>,
): IdKind {
  const parsed = (text: string) => parseId(prefix, text);
  return {
    prefix,
    byId: async (searching, text) => {
      const id = parsed(text);
      return id && read(searching, id);
    },
    ...(newest && {
      below: async (searching, text) => {
        const after = parsed(text);
        return after && (await newest(searching, { after, limit: 1 }))[0]?.id;
      },
    }),
  };
}

const noTimes = { sinceMs: undefined, untilMs: undefined };
const anyCall = { toolSlug: undefined, entityId: undefined, outcome: undefined, ...noTimes };
const anyJob = { statuses: undefined, mode: undefined, skillSlug: undefined, standingProgramId: undefined };
const anyAsk = { state: undefined, principalId: undefined, jobId: undefined, standingProgramId: undefined };

const idKinds: readonly IdKind[] = [
  idKind(
    "evt",
    async ({ db, projectId, binding }, id) => {
      const event = await eventsForProject(db, projectId).find(id);
      return event && isRowInScope(event, binding) ? eventNode(event) : undefined;
    },
    ({ db, projectId }, page) =>
      eventsForProject(db, projectId).list({ toolkitSlug: "", triggerSlug: "", ...noTimes }, page),
  ),
  idKind("dlv", async ({ db, projectId, binding }, id) => {
    const delivery = binding === undefined ? await deliveriesForProject(db, projectId).find(id) : undefined;
    if (delivery === undefined) return undefined;
    const [endpoint] = await readEndpoints(db, projectId, [delivery.subscriptionId]);
    return deliveryNode(delivery, endpoint);
  }),
  idKind(
    "sub",
    async ({ db, projectId, binding }, id) => {
      const [endpoint] = binding === undefined ? await readEndpoints(db, projectId, [id]) : [];
      return endpoint && endpointNode(endpoint);
    },
    ({ db, projectId }, page) => subscriptionsForProject(db, projectId).list(page),
  ),
  idKind(
    "stp",
    async ({ db, projectId, binding }, id) => {
      const program = await standingProgramsForProject(db, projectId).find(id);
      return program && isWithin(program, binding) ? scheduleNode(program) : undefined;
    },
    ({ db, projectId }, page) =>
      standingProgramsForProject(db, projectId).list({ state: undefined, sourceKind: undefined }, page),
  ),
  idKind("srn", async ({ db, projectId, binding }, id) => {
    const run = await standingRunsForProject(db, projectId).find(id);
    const [program] = run === undefined ? [] : await readStandingPrograms(db, [run.programId]);
    return run && program && isWithin(program, binding) ? runNode(run) : undefined;
  }),
  idKind(
    "job",
    async ({ db, projectId, binding, titleOf }, id) => {
      const job = await jobsForProject(db, projectId).find(id);
      return job && isWithin(job, binding) ? jobNode(job, titleOf(job)) : undefined;
    },
    ({ db, projectId }, page) =>
      jobsForProject(db, projectId).list({ ...anyJob, parentJobId: undefined, ...noTimes }, page),
  ),
  idKind(
    "ask",
    async ({ db, projectId, binding }, id) => {
      const ask = await asksForProject(db, projectId).find(id);
      if (ask === undefined) return undefined;
      if (binding === undefined) return askNode(ask);
      const bindings = await readJobBindings(db, projectId, [ask.jobId]);
      const scope = { binding: bindings.get(ask.jobId) ?? null };
      return bindings.has(ask.jobId) && isWithin(scope, binding) ? askNode(ask) : undefined;
    },
    ({ db, projectId }, page) => asksForProject(db, projectId).list(anyAsk, page),
  ),
  idKind(
    "call",
    async ({ db, projectId, binding, messageOf, appNames }, id) => {
      const call = await toolCallsForProject(db, projectId).find(id);
      return call && isRowInScope(call, binding) ? callNode(call, messageOf(call), appNames) : undefined;
    },
    ({ db, projectId }, page) => toolCallsForProject(db, projectId).list(anyCall, page),
  ),
  idKind(
    "acc",
    async ({ db, clock, projectId, binding }, id) => {
      const account = await connectedAccountsForProject(db, projectId).find(id);
      return account && isRowInScope(account, binding) ? accountNode(account, clock.now()) : undefined;
    },
    ({ db, projectId, clock }, page) =>
      connectedAccountsForProject(db, projectId).list({ toolkitSlug: "", entityId: "", state: "" }, page, clock.now()),
  ),
];

/** Length of an id after its prefix and `_`. */
const idLength = 26;

/**
 * Returns the resource with this id, or the newest one whose id begins like this. Undefined if the query is not the beginning of an id. The
 * list finds the newest id below the highest id with this beginning.
 */
async function findByBeginning(searching: Searching, query: string): Promise<TracedNode[] | undefined> {
  const [prefix = "", rest] = query.toLowerCase().split("_", 2);
  const kind = idKinds.find((one) => one.prefix === prefix);
  if (kind === undefined || rest === undefined || !/^[0-7][0-9a-hjkmnp-tv-z]*$/.test(rest)) return undefined;
  if (rest.length > idLength) return [];
  const start = `${prefix}_${rest}`;
  const id =
    rest.length === idLength ? start : await kind.below?.(searching, `${prefix}_${rest.padEnd(idLength, "z")}`);
  const node = id?.startsWith(start) ? await kind.byId(searching, id) : undefined;
  return node === undefined ? [] : [node];
}

/** The kinds that a search finds by the end of their ids. */
const endKinds: readonly (readonly [WatchedKind, TraceKind])[] = [
  ["event", TraceKind.EVENT],
  ["delivery", TraceKind.DELIVERY],
  ["call", TraceKind.CALL],
  ["job", TraceKind.JOB],
  ["ask", TraceKind.ASK],
];

/** Maximum number of resources that a search finds by the end of their ids. */
const endsMax = 10;

/**
 * Returns the newest resources whose ids end with the query, among the newest 1,000 of each kind. They must also be among the newest 5,000
 * of all projects, except for events.
 */
async function findByEnd(
  searching: Searching,
  query: string,
  isWanted: (kind: TraceKind) => boolean,
): Promise<TracedNode[]> {
  const end = query.toLowerCase().replace(/^(\.\.\.|…)/, "");
  if (end.length < endMin || !/^[0-9a-hjkmnp-tv-z]{4,26}$/.test(end)) return [];
  const kinds = endKinds.filter(([, kind]) => isWanted(kind)).map(([watched]) => watched);
  const newest = await readNewOfProject(searching.db, searching.projectId, kinds, 0);
  const ids = newest.map(({ id }) => id).filter((id) => id.endsWith(end));
  const sorted = ids.sort((a, b) => timeOfId(b) - timeOfId(a)).slice(0, endsMax);
  const nodes = await Promise.all(
    sorted.map((id) => idKinds.find(({ prefix }) => id.startsWith(`${prefix}_`))?.byId(searching, id)),
  );
  return nodes.flatMap((node) => node ?? []);
}

/** Position and size of a page: at most `limit` rows after the position `after`. */
type After<Place> = { readonly after: Place | undefined; readonly limit: number };

/** The way to search a list. `bytesOf`: returns the size of what `fits` has to read of a row. */
type Walk<Row, Place> = {
  readonly read: (page: After<Place>) => Promise<readonly Row[]>;
  readonly placeOf: (row: Row) => Place;
  readonly fits: (row: Row) => boolean;
  readonly bytesOf?: (row: Row) => number;
};

/**
 * Reads pages of a list until it ends, or until `max` rows or `bytesMax` bytes are read. Returns at most `limit` rows that fit, and if more
 * rows may fit.
 */
async function walk<Row, Place>(
  { max, atOnce, bytesMax }: typeof titles,
  { read, placeOf, fits, bytesOf = () => 0 }: Walk<Row, Place>,
  limit: number,
): Promise<{ readonly rows: readonly Row[]; readonly isPartial: boolean }> {
  const rows: Row[] = [];
  const slices = createSlices(setImmediate);
  let after: Place | undefined;
  for (let walked = 0, bytes = 0; walked < max; walked += atOnce) {
    const page = await read({ after, limit: atOnce });
    for (const row of page) {
      bytes += bytesOf(row);
      if (bytes > bytesMax) return { rows, isPartial: true };
      if (fits(row) && rows.push(row) > limit) return { rows: rows.slice(0, limit), isPartial: true };
      await slices.rest();
    }
    const last = page.at(-1);
    if (last === undefined || page.length < atOnce) return { rows, isPartial: false };
    after = placeOf(last);
  }
  return { rows, isPartial: true };
}

const has = (query: string, ...texts: readonly string[]) => texts.some((text) => text.toLowerCase().includes(query));
const idOf = <Row extends { readonly id: string }>({ id }: Row): Row["id"] => id;

const nothing: Found = { nodes: [], isPartial: false };

/** The parts of a search that look for text, by the kind that they find. */
const finders: ReadonlyMap<TraceKind, Finder> = new Map<TraceKind, Finder>([
  [
    TraceKind.JOB,
    async ({ db, projectId, binding, titleOf }, query, limit) => {
      const jobs = jobsForProject(db, projectId);
      const filter = { ...anyJob, parentJobId: undefined, ...noTimes };
      const { rows, isPartial } = await walk(
        titles,
        {
          read: (page: After<Id<"job">>) => jobs.list(filter, page),
          placeOf: idOf,
          fits: (job) => isWithin(job, binding) && has(query, titleOf(job)),
          bytesOf: ({ sealedProgram, program }) => sealedProgram?.length ?? program?.length ?? 0,
        },
        limit,
      );
      return { nodes: rows.map((job) => jobNode(job, titleOf(job))), isPartial };
    },
  ],
  [
    TraceKind.SUBSCRIPTION,
    async ({ db, projectId, binding }, query, limit) => {
      if (binding !== undefined) return nothing;
      const subscriptions = subscriptionsForProject(db, projectId);
      const { rows, isPartial } = await walk(
        names,
        {
          read: (page: After<SubscriptionId>) => subscriptions.list(page),
          placeOf: idOf,
          fits: (row) => has(query, row.endpointUrl),
        },
        limit,
      );
      return { nodes: rows.map(endpointNode), isPartial };
    },
  ],
  [
    TraceKind.SCHEDULE,
    async ({ db, projectId, binding }, query, limit) => {
      const programs = standingProgramsForProject(db, projectId);
      const { rows, isPartial } = await walk(
        names,
        {
          read: (page: After<StandingProgramId>) => programs.list({ state: undefined, sourceKind: undefined }, page),
          placeOf: idOf,
          fits: (row) => isWithin(row, binding) && has(query, row.slug, row.title),
        },
        limit,
      );
      return { nodes: rows.map(scheduleNode), isPartial };
    },
  ],
  [
    TraceKind.SAVED_TOOL,
    async ({ db, projectId, binding }, query, limit) => {
      if (binding !== undefined) return nothing;
      const skills = await skillsForProject(db, projectId).list();
      const found = skills.filter(({ slug, description }) => has(query, slug, description));
      return { nodes: found.slice(0, limit).map(savedToolNode), isPartial: found.length > limit };
    },
  ],
  [
    TraceKind.PERSON,
    async ({ db, projectId, binding }, query, limit) => {
      if (binding !== undefined) return nothing;
      const contacts = contactsForProject(db, projectId);
      const { rows, isPartial } = await walk(
        names,
        {
          read: (page: After<string>) => contacts.list(page),
          placeOf: ({ principalId }) => principalId,
          fits: ({ principalId, name }) => has(query, principalId, name),
        },
        limit,
      );
      return { nodes: rows.map(personNode), isPartial };
    },
  ],
]);
