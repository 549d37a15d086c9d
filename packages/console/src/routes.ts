import { type AnyRoute, createRootRoute, createRoute, createRouter, redirect } from "@tanstack/react-router";
import type { ComponentType } from "react";
import { accountsSearch } from "./pages/accounts/filters.ts";
import { asksSearch } from "./pages/asks/filters.ts";
import { auditSearch } from "./pages/audit/filters.ts";
import { callsSearch } from "./pages/calls/filters.ts";
import { deliveriesSearch } from "./pages/deliveries/filters.ts";
import { eventsSearch } from "./pages/events/filters.ts";
import { readHomeSearch } from "./pages/home/filters.ts";
import { jobsSearch } from "./pages/jobs/filters.ts";
import { quarantineSearch } from "./pages/quarantine/filters.ts";
import { readReplaysSearch } from "./pages/replays/filters.ts";
import { schedulesSearch } from "./pages/schedules/filters.ts";
import { subscriptionsSearch } from "./pages/subscriptions/filters.ts";
import { toolkitsSearch } from "./pages/toolkits/filters.ts";
import { readToolSearch, toolsSearch } from "./pages/tools/filters.ts";
import { consoleBase } from "./session/base.ts";
import { PageFailed } from "./shell/page-failed.tsx";
import { pageFrom } from "./shell/page-file.ts";
import { oneOfParam, parseSearch, searchReader, stringifySearch, textParam } from "./shell/search-params.ts";
import { AddSeat, AdminPages, NoPage, ProjectPages, Start } from "./shell/start.tsx";
import { rangeNames } from "./words/spans.ts";

// All pages of the console. The browser loads a page when the page is first shown. The search parameters of a page are declared here, or in
// its filters.ts if the page is a list. The console loads these declarations at its start, so that it can read an address before it loads
// the page.

const root = createRootRoute();
const start = createRoute({ getParentRoute: () => root, path: "/", component: Start });
const addSeat = createRoute({ getParentRoute: () => root, path: "/add-seat", component: AddSeat });
const project = createRoute({ getParentRoute: () => root, path: "/p/$projectId", component: ProjectPages });

/** Declares a page: its path below the parent's path, its file, and the reader of its search parameters. */
function page<Parent extends AnyRoute, Path extends string, Search = Record<never, never>>(
  parent: Parent,
  path: Path,
  load: () => Promise<{ default: ComponentType }>,
  read?: (raw: Record<string, unknown>) => Search,
) {
  return createRoute({ getParentRoute: () => parent, path, component: pageFrom(load), validateSearch: read });
}

const projectHome = createRoute({
  getParentRoute: () => project,
  path: "/",
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/p/$projectId/home", params, replace: true });
  },
});

const home = page(project, "home", () => import("./pages/home/home.tsx"), readHomeSearch);

// The address of Home before version 0.2, which links and bookmarks may still have.
const overview = createRoute({
  getParentRoute: () => project,
  path: "overview",
  validateSearch: readHomeSearch,
  beforeLoad: ({ params, search }) => {
    throw redirect({ to: "/p/$projectId/home", params, search, replace: true });
  },
});

const events = page(project, "events", () => import("./pages/events/list.tsx"), eventsSearch.read);
const event = page(project, "events/$eventId", () => import("./pages/events/detail.tsx"));

const eventTypes = page(project, "event-types", () => import("./pages/event-types/list.tsx"));
const eventType = page(
  project,
  "event-types/$name",
  () => import("./pages/event-types/detail.tsx"),
  // Number of the schema's version that the page shows. Default: the newest version.
  searchReader({ version: textParam }),
);

const deliveries = page(project, "deliveries", () => import("./pages/deliveries/list.tsx"), deliveriesSearch.read);
const delivery = page(project, "deliveries/$deliveryId", () => import("./pages/deliveries/detail.tsx"));

const subscriptions = page(
  project,
  "subscriptions",
  () => import("./pages/subscriptions/list.tsx"),
  subscriptionsSearch.read,
);
const newSubscription = page(project, "subscriptions/new", () => import("./pages/subscriptions/create.tsx"));
const subscription = page(
  project,
  "subscriptions/$subscriptionId",
  () => import("./pages/subscriptions/detail.tsx"),
  searchReader({
    // Time since which events were not delivered (RFC 3339). Set if the user has just enabled the subscription again.
    missedSince: textParam,
    tab: oneOfParam(["overview", "deliveries", "settings", "secret"]),
    // Time of the figures. Default: the last 24 hours.
    range: oneOfParam(rangeNames),
  }),
);

const changeSubscription = page(
  project,
  "subscriptions/$subscriptionId/change",
  () => import("./pages/subscriptions/change.tsx"),
);

const replays = page(project, "replays", () => import("./pages/replays/list.tsx"), readReplaysSearch);

const ingest = page(project, "ingest", () => import("./pages/ingest/list.tsx"));

// Reads the format in which the page of a quarantined post shows the body. Default: text if the body is text.
const readQuarantinedSearch = searchReader({ body: oneOfParam(["text", "hex"]) });
const ownQuarantine = page(project, "quarantine", () => import("./pages/quarantine/list.tsx"), quarantineSearch.read);
const ownQuarantined = page(
  project,
  "quarantine/$postId",
  () => import("./pages/quarantine/detail.tsx"),
  readQuarantinedSearch,
);

const jobs = page(project, "jobs", () => import("./pages/jobs/list.tsx"), jobsSearch.read);
const job = page(
  project,
  "jobs/$jobId",
  () => import("./pages/jobs/detail.tsx"),
  searchReader({
    // Id of the step whose drawer is open. The tab with the log shows only the entries of this step. Default: no drawer, and all entries.
    step: textParam,
    // Part of the step that its drawer shows. Default: the overview.
    part: oneOfParam(["input", "output", "calls", "rows"]),
    // Ids of the closed rows of the timeline, separated by commas. Default: all rows are open.
    folded: textParam,
    // Time that the timeline shows, such as `120-600`, in milliseconds after the start of the first step. Default: all of it.
    zoom: (text) => (/^\d{1,15}-\d{1,15}$/.test(text) ? text : undefined),
    // Order of the log entries. Default: the oldest first.
    order: oneOfParam(["newest"]),
    // Tab of the page. Default: the timeline, or the comparison if `with` is set.
    tab: oneOfParam(["graph", "log", "calls", "program", "result", "simulation", "compare"]),
    // Id of the job with which the job is compared. Default: the last success of the same program.
    with: textParam,
  }),
);
const newProgram = page(
  project,
  "programs/new",
  () => import("./pages/programs/new.tsx"),
  // Id of the job, or name of the example, whose program the editor starts with. Default: an example program.
  searchReader({ from: textParam, example: textParam }),
);

const asks = page(project, "asks", () => import("./pages/asks/list.tsx"), asksSearch.read);
const askById = page(project, "asks/$askId", () => import("./pages/asks/by-id.tsx"));
const ask = page(project, "asks/$jobId/$askId", () => import("./pages/asks/detail.tsx"));

const contacts = page(
  project,
  "contacts",
  () => import("./pages/contacts/list.tsx"),
  // Tab of the page. Default: the contacts.
  searchReader({ tab: oneOfParam(["endpoints"]) }),
);

const skills = page(project, "skills", () => import("./pages/skills/list.tsx"));
const skill = page(
  project,
  "skills/$slug",
  () => import("./pages/skills/detail.tsx"),
  // Number of the skill's version that the page shows. Default: the newest version.
  searchReader({ version: textParam }),
);

const schedules = page(project, "schedules", () => import("./pages/schedules/list.tsx"), schedulesSearch.read);
const newSchedule = page(
  project,
  "schedules/new",
  () => import("./pages/schedules/new.tsx"),
  // Slug of the skill that the schedule runs, or name of the example with which it starts. Default: the user writes a new program.
  searchReader({ skill: textParam, example: textParam }),
);
const changeSchedule = page(project, "schedules/$scheduleId/change", () => import("./pages/schedules/change.tsx"));
const schedule = page(
  project,
  "schedules/$scheduleId",
  () => import("./pages/schedules/detail.tsx"),
  // Reason why runs were not started; the list shows only those. Default: all reasons.
  searchReader({ reason: textParam }),
);

const run = page(project, "runs/$runId", () => import("./pages/runs/detail.tsx"));
const failure = page(project, "failures/$fingerprint", () => import("./pages/failures/detail.tsx"));

const tools = page(project, "tools", () => import("./pages/tools/list.tsx"), toolsSearch.read);
const publishToolkit = page(project, "tools/publish", () => import("./pages/toolkits/publish.tsx"));
const tool = page(project, "tools/$toolSlug", () => import("./pages/tools/detail.tsx"), readToolSearch);
const toolkits = page(project, "toolkits", () => import("./pages/toolkits/list.tsx"), toolkitsSearch.read);
const addToolkit = page(
  project,
  "toolkits/from-source",
  () => import("./pages/toolkits/add.tsx"),
  // Slug of a toolkit whose source is looked at again. Default: the user adds a new toolkit.
  searchReader({ again: textParam }),
);
const toolkit = page(project, "toolkits/$toolkitSlug", () => import("./pages/toolkits/detail.tsx"));
const toolkitChanges = page(project, "toolkits/$toolkitSlug/changes", () => import("./pages/toolkits/changes.tsx"));
const ownAccount = page(project, "toolkits/$toolkitSlug/own-account", () => import("./pages/toolkits/own-account.tsx"));

const accounts = page(project, "accounts", () => import("./pages/accounts/list.tsx"), accountsSearch.read);
const account = page(project, "accounts/$accountId", () => import("./pages/accounts/detail.tsx"));

const calls = page(project, "calls", () => import("./pages/calls/list.tsx"), callsSearch.read);
const call = page(project, "calls/$callId", () => import("./pages/calls/detail.tsx"));

const toolPages = [
  ...([tools, publishToolkit, tool, toolkits, addToolkit, toolkit, toolkitChanges, ownAccount] as const),
  ...([accounts, account, calls, call] as const),
] as const;

const settings = page(
  project,
  "settings",
  () => import("./pages/settings/page.tsx"),
  // Tab of the settings. Default: the first tab.
  searchReader({ tab: oneOfParam(["you", "browser", "agents", "secrets", "limits", "portal", "deployment"]) }),
);

const admin = createRoute({ getParentRoute: () => root, path: "/admin", component: AdminPages });
const adminHome = createRoute({
  getParentRoute: () => admin,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/admin/projects", replace: true });
  },
});
const projects = page(admin, "projects", () => import("./pages/projects/list.tsx"));
const administered = page(
  admin,
  "projects/$id",
  () => import("./pages/projects/detail.tsx"),
  // Tab of the project's page. Default: the keys.
  searchReader({ tab: oneOfParam(["keys", "policy", "usage", "jobs"]) }),
);
const quarantine = page(admin, "quarantine", () => import("./pages/quarantine/list.tsx"), quarantineSearch.read);
const quarantined = page(
  admin,
  "quarantine/$postId",
  () => import("./pages/quarantine/detail.tsx"),
  readQuarantinedSearch,
);
const audit = page(admin, "audit", () => import("./pages/audit/list.tsx"), auditSearch.read);

const routeTree = root.addChildren([
  start,
  addSeat,
  project.addChildren([
    projectHome,
    home,
    overview,
    events,
    event,
    eventTypes,
    eventType,
    deliveries,
    delivery,
    subscriptions,
    newSubscription,
    subscription,
    changeSubscription,
    replays,
    ingest,
    ownQuarantine,
    ownQuarantined,
    jobs,
    job,
    newProgram,
    asks,
    askById,
    ask,
    contacts,
    skills,
    skill,
    schedules,
    newSchedule,
    schedule,
    changeSchedule,
    run,
    failure,
    ...toolPages,
    settings,
  ]),
  admin.addChildren([adminHome, projects, administered, quarantine, quarantined, audit]),
]);

/** The router of the console: it chooses the page to draw for an address. */
export const router = createRouter({
  routeTree,
  basepath: consoleBase.pathname,
  parseSearch,
  stringifySearch,
  defaultErrorComponent: PageFailed,
  defaultNotFoundComponent: NoPage,
  // While a page loads, the previous page stays. The console shows a loading state only after 150 ms.
  defaultPendingMs: 150,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
