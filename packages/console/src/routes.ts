import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { readAccountsSearch } from "./pages/accounts/filters.ts";
import { readAsksSearch } from "./pages/asks/filters.ts";
import { readAuditSearch } from "./pages/audit/filters.ts";
import { readCallsSearch } from "./pages/calls/filters.ts";
import { readContactsSearch } from "./pages/contacts/search.ts";
import { readDeliveriesSearch } from "./pages/deliveries/filters.ts";
import { readEventsSearch } from "./pages/events/filters.ts";
import { readJobSearch } from "./pages/jobs/detail-search.ts";
import { readJobsSearch } from "./pages/jobs/filters.ts";
import { readOverviewSearch } from "./pages/overview/filters.ts";
import { readProgramSearch } from "./pages/programs/search.ts";
import { readProjectSearch } from "./pages/projects/filters.ts";
import { readQuarantinedSearch, readQuarantineSearch } from "./pages/quarantine/filters.ts";
import { readReplaysSearch } from "./pages/replays/filters.ts";
import { readNewScheduleSearch, readScheduleSearch, readSchedulesSearch } from "./pages/schedules/filters.ts";
import { readSettingsSearch } from "./pages/settings/filters.ts";
import { readSkillSearch } from "./pages/skills/search.ts";
import { readSubscriptionSearch } from "./pages/subscriptions/filters.ts";
import { readToolSearch, readToolsSearch } from "./pages/tools/filters.ts";
import { consoleBase } from "./session/base.ts";
import { AdminPages } from "./shell/admin.tsx";
import { NoPage, PageFailed } from "./shell/failed.tsx";
import { ProjectPages } from "./shell/project.tsx";
import { parseSearch, stringifySearch } from "./shell/search-params.ts";
import { AddSeat, Start } from "./shell/start.tsx";

// Every page of the console. A page is loaded when it is first shown; what its address holds is read by its filters.ts, which is
// loaded with the console, so that an address is understood before its page is there.

const root = createRootRoute();
const start = createRoute({ getParentRoute: () => root, path: "/", component: Start });
const addSeat = createRoute({ getParentRoute: () => root, path: "/add-seat", component: AddSeat });
const project = createRoute({ getParentRoute: () => root, path: "/p/$projectId", component: ProjectPages });

const projectHome = createRoute({
  getParentRoute: () => project,
  path: "/",
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/p/$projectId/overview", params, replace: true });
  },
});

const overview = createRoute({
  getParentRoute: () => project,
  path: "overview",
  validateSearch: readOverviewSearch,
  component: lazyRouteComponent(() => import("./pages/overview/overview.tsx")),
});

const events = createRoute({
  getParentRoute: () => project,
  path: "events",
  validateSearch: readEventsSearch,
  component: lazyRouteComponent(() => import("./pages/events/list.tsx")),
});
const event = createRoute({
  getParentRoute: () => project,
  path: "events/$eventId",
  component: lazyRouteComponent(() => import("./pages/events/detail.tsx")),
});

const deliveries = createRoute({
  getParentRoute: () => project,
  path: "deliveries",
  validateSearch: readDeliveriesSearch,
  component: lazyRouteComponent(() => import("./pages/deliveries/list.tsx")),
});
const delivery = createRoute({
  getParentRoute: () => project,
  path: "deliveries/$deliveryId",
  component: lazyRouteComponent(() => import("./pages/deliveries/detail.tsx")),
});

const subscriptions = createRoute({
  getParentRoute: () => project,
  path: "subscriptions",
  component: lazyRouteComponent(() => import("./pages/subscriptions/list.tsx")),
});
const newSubscription = createRoute({
  getParentRoute: () => project,
  path: "subscriptions/new",
  component: lazyRouteComponent(() => import("./pages/subscriptions/create.tsx")),
});
const subscription = createRoute({
  getParentRoute: () => project,
  path: "subscriptions/$subscriptionId",
  validateSearch: readSubscriptionSearch,
  component: lazyRouteComponent(() => import("./pages/subscriptions/detail.tsx")),
});

const replays = createRoute({
  getParentRoute: () => project,
  path: "replays",
  validateSearch: readReplaysSearch,
  component: lazyRouteComponent(() => import("./pages/replays/list.tsx")),
});

const ingest = createRoute({
  getParentRoute: () => project,
  path: "ingest",
  component: lazyRouteComponent(() => import("./pages/ingest/list.tsx")),
});

const jobs = createRoute({
  getParentRoute: () => project,
  path: "jobs",
  validateSearch: readJobsSearch,
  component: lazyRouteComponent(() => import("./pages/jobs/list.tsx")),
});
const job = createRoute({
  getParentRoute: () => project,
  path: "jobs/$jobId",
  validateSearch: readJobSearch,
  component: lazyRouteComponent(() => import("./pages/jobs/detail.tsx")),
});
const newProgram = createRoute({
  getParentRoute: () => project,
  path: "programs/new",
  validateSearch: readProgramSearch,
  component: lazyRouteComponent(() => import("./pages/programs/new.tsx")),
});

const asks = createRoute({
  getParentRoute: () => project,
  path: "asks",
  validateSearch: readAsksSearch,
  component: lazyRouteComponent(() => import("./pages/asks/list.tsx")),
});
const askById = createRoute({
  getParentRoute: () => project,
  path: "asks/$askId",
  component: lazyRouteComponent(() => import("./pages/asks/by-id.tsx")),
});
const ask = createRoute({
  getParentRoute: () => project,
  path: "asks/$jobId/$askId",
  component: lazyRouteComponent(() => import("./pages/asks/detail.tsx")),
});

const contacts = createRoute({
  getParentRoute: () => project,
  path: "contacts",
  validateSearch: readContactsSearch,
  component: lazyRouteComponent(() => import("./pages/contacts/list.tsx")),
});

const skills = createRoute({
  getParentRoute: () => project,
  path: "skills",
  component: lazyRouteComponent(() => import("./pages/skills/list.tsx")),
});
const skill = createRoute({
  getParentRoute: () => project,
  path: "skills/$slug",
  validateSearch: readSkillSearch,
  component: lazyRouteComponent(() => import("./pages/skills/detail.tsx")),
});

const schedules = createRoute({
  getParentRoute: () => project,
  path: "schedules",
  validateSearch: readSchedulesSearch,
  component: lazyRouteComponent(() => import("./pages/schedules/list.tsx")),
});
const newSchedule = createRoute({
  getParentRoute: () => project,
  path: "schedules/new",
  validateSearch: readNewScheduleSearch,
  component: lazyRouteComponent(() => import("./pages/schedules/new.tsx")),
});
const changeSchedule = createRoute({
  getParentRoute: () => project,
  path: "schedules/$scheduleId/change",
  component: lazyRouteComponent(() => import("./pages/schedules/change.tsx")),
});
const schedule = createRoute({
  getParentRoute: () => project,
  path: "schedules/$scheduleId",
  validateSearch: readScheduleSearch,
  component: lazyRouteComponent(() => import("./pages/schedules/detail.tsx")),
});

const tools = createRoute({
  getParentRoute: () => project,
  path: "tools",
  validateSearch: readToolsSearch,
  component: lazyRouteComponent(() => import("./pages/tools/list.tsx")),
});
const publishToolkit = createRoute({
  getParentRoute: () => project,
  path: "tools/publish",
  component: lazyRouteComponent(() => import("./pages/toolkits/publish.tsx")),
});
const tool = createRoute({
  getParentRoute: () => project,
  path: "tools/$toolSlug",
  validateSearch: readToolSearch,
  component: lazyRouteComponent(() => import("./pages/tools/detail.tsx")),
});
const toolkit = createRoute({
  getParentRoute: () => project,
  path: "toolkits/$toolkitSlug",
  component: lazyRouteComponent(() => import("./pages/toolkits/detail.tsx")),
});

const accounts = createRoute({
  getParentRoute: () => project,
  path: "accounts",
  validateSearch: readAccountsSearch,
  component: lazyRouteComponent(() => import("./pages/accounts/list.tsx")),
});
const account = createRoute({
  getParentRoute: () => project,
  path: "accounts/$accountId",
  component: lazyRouteComponent(() => import("./pages/accounts/detail.tsx")),
});

const calls = createRoute({
  getParentRoute: () => project,
  path: "calls",
  validateSearch: readCallsSearch,
  component: lazyRouteComponent(() => import("./pages/calls/list.tsx")),
});
const call = createRoute({
  getParentRoute: () => project,
  path: "calls/$callId",
  component: lazyRouteComponent(() => import("./pages/calls/detail.tsx")),
});

const toolPages = [tools, publishToolkit, tool, toolkit, accounts, account, calls, call] as const;

const settings = createRoute({
  getParentRoute: () => project,
  path: "settings",
  validateSearch: readSettingsSearch,
  component: lazyRouteComponent(() => import("./pages/settings/page.tsx")),
});

const admin = createRoute({ getParentRoute: () => root, path: "/admin", component: AdminPages });
const adminHome = createRoute({
  getParentRoute: () => admin,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/admin/projects", replace: true });
  },
});
const projects = createRoute({
  getParentRoute: () => admin,
  path: "projects",
  component: lazyRouteComponent(() => import("./pages/projects/list.tsx")),
});
const administered = createRoute({
  getParentRoute: () => admin,
  path: "projects/$id",
  validateSearch: readProjectSearch,
  component: lazyRouteComponent(() => import("./pages/projects/detail.tsx")),
});
const quarantine = createRoute({
  getParentRoute: () => admin,
  path: "quarantine",
  validateSearch: readQuarantineSearch,
  component: lazyRouteComponent(() => import("./pages/quarantine/list.tsx")),
});
const quarantined = createRoute({
  getParentRoute: () => admin,
  path: "quarantine/$postId",
  validateSearch: readQuarantinedSearch,
  component: lazyRouteComponent(() => import("./pages/quarantine/detail.tsx")),
});
const audit = createRoute({
  getParentRoute: () => admin,
  path: "audit",
  validateSearch: readAuditSearch,
  component: lazyRouteComponent(() => import("./pages/audit/list.tsx")),
});

const routeTree = root.addChildren([
  start,
  addSeat,
  project.addChildren([
    projectHome,
    overview,
    events,
    event,
    deliveries,
    delivery,
    subscriptions,
    newSubscription,
    subscription,
    replays,
    ingest,
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
    ...toolPages,
    settings,
  ]),
  admin.addChildren([adminHome, projects, administered, quarantine, quarantined, audit]),
]);

/** The router of the console. */
export const router = createRouter({
  routeTree,
  basepath: consoleBase.pathname,
  parseSearch,
  stringifySearch,
  defaultErrorComponent: PageFailed,
  defaultNotFoundComponent: NoPage,
  // A page that is a moment away shows nothing in between; one that takes longer keeps the page before.
  defaultPendingMs: 150,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
