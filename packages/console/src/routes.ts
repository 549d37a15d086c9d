import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import type { ComponentType } from "react";
import { accountsSearch } from "./pages/accounts/filters.ts";
import { asksSearch } from "./pages/asks/filters.ts";
import { auditSearch } from "./pages/audit/filters.ts";
import { callsSearch } from "./pages/calls/filters.ts";
import { readContactsSearch } from "./pages/contacts/search.ts";
import { deliveriesSearch } from "./pages/deliveries/filters.ts";
import { eventsSearch } from "./pages/events/filters.ts";
import { readJobSearch } from "./pages/jobs/detail-search.ts";
import { jobsSearch } from "./pages/jobs/filters.ts";
import { readOverviewSearch } from "./pages/overview/filters.ts";
import { readProgramSearch } from "./pages/programs/search.ts";
import { readProjectSearch } from "./pages/projects/filters.ts";
import { quarantineSearch, readQuarantinedSearch } from "./pages/quarantine/filters.ts";
import { readReplaysSearch } from "./pages/replays/filters.ts";
import { readNewScheduleSearch, readScheduleSearch, schedulesSearch } from "./pages/schedules/filters.ts";
import { readSettingsSearch } from "./pages/settings/filters.ts";
import { readSkillSearch } from "./pages/skills/search.ts";
import { readSubscriptionSearch } from "./pages/subscriptions/filters.ts";
import { readToolSearch, toolsSearch } from "./pages/tools/filters.ts";
import { consoleBase } from "./session/base.ts";
import { AdminPages } from "./shell/admin.tsx";
import { NoPage, PageFailed } from "./shell/failed.tsx";
import { ProjectPages } from "./shell/project.tsx";
import { parseSearch, stringifySearch } from "./shell/search-params.ts";
import { AddSeat, Start } from "./shell/start.tsx";

// Every page of the console. A page is loaded when it is first shown; what its address holds is read by its filters.ts, which is
// loaded with the console, so that an address is understood before its page is there.

/**
 * Returns the component of a page, loaded when it is first shown. If its file does not load while the service answers, an update has taken
 * the file away and the router reloads the console once. While the service is away a reload would leave the browser's own error page, so
 * PageFailed is shown and loads the page when the service is back.
 */
function pageFrom(load: () => Promise<{ default: ComponentType }>) {
  return lazyRouteComponent(async () => {
    try {
      return await load();
    } catch (cause) {
      const answers = await fetch(consoleBase, { cache: "no-store" }).then(
        () => true,
        () => false,
      );
      if (answers) throw cause;
      throw new Error("The service cannot be reached, so this page did not load.", { cause });
    }
  });
}

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
  component: pageFrom(() => import("./pages/overview/overview.tsx")),
});

const events = createRoute({
  getParentRoute: () => project,
  path: "events",
  validateSearch: eventsSearch.read,
  component: pageFrom(() => import("./pages/events/list.tsx")),
});
const event = createRoute({
  getParentRoute: () => project,
  path: "events/$eventId",
  component: pageFrom(() => import("./pages/events/detail.tsx")),
});

const deliveries = createRoute({
  getParentRoute: () => project,
  path: "deliveries",
  validateSearch: deliveriesSearch.read,
  component: pageFrom(() => import("./pages/deliveries/list.tsx")),
});
const delivery = createRoute({
  getParentRoute: () => project,
  path: "deliveries/$deliveryId",
  component: pageFrom(() => import("./pages/deliveries/detail.tsx")),
});

const subscriptions = createRoute({
  getParentRoute: () => project,
  path: "subscriptions",
  component: pageFrom(() => import("./pages/subscriptions/list.tsx")),
});
const newSubscription = createRoute({
  getParentRoute: () => project,
  path: "subscriptions/new",
  component: pageFrom(() => import("./pages/subscriptions/create.tsx")),
});
const subscription = createRoute({
  getParentRoute: () => project,
  path: "subscriptions/$subscriptionId",
  validateSearch: readSubscriptionSearch,
  component: pageFrom(() => import("./pages/subscriptions/detail.tsx")),
});

const replays = createRoute({
  getParentRoute: () => project,
  path: "replays",
  validateSearch: readReplaysSearch,
  component: pageFrom(() => import("./pages/replays/list.tsx")),
});

const ingest = createRoute({
  getParentRoute: () => project,
  path: "ingest",
  component: pageFrom(() => import("./pages/ingest/list.tsx")),
});

const jobs = createRoute({
  getParentRoute: () => project,
  path: "jobs",
  validateSearch: jobsSearch.read,
  component: pageFrom(() => import("./pages/jobs/list.tsx")),
});
const job = createRoute({
  getParentRoute: () => project,
  path: "jobs/$jobId",
  validateSearch: readJobSearch,
  component: pageFrom(() => import("./pages/jobs/detail.tsx")),
});
const newProgram = createRoute({
  getParentRoute: () => project,
  path: "programs/new",
  validateSearch: readProgramSearch,
  component: pageFrom(() => import("./pages/programs/new.tsx")),
});

const asks = createRoute({
  getParentRoute: () => project,
  path: "asks",
  validateSearch: asksSearch.read,
  component: pageFrom(() => import("./pages/asks/list.tsx")),
});
const askById = createRoute({
  getParentRoute: () => project,
  path: "asks/$askId",
  component: pageFrom(() => import("./pages/asks/by-id.tsx")),
});
const ask = createRoute({
  getParentRoute: () => project,
  path: "asks/$jobId/$askId",
  component: pageFrom(() => import("./pages/asks/detail.tsx")),
});

const contacts = createRoute({
  getParentRoute: () => project,
  path: "contacts",
  validateSearch: readContactsSearch,
  component: pageFrom(() => import("./pages/contacts/list.tsx")),
});

const skills = createRoute({
  getParentRoute: () => project,
  path: "skills",
  component: pageFrom(() => import("./pages/skills/list.tsx")),
});
const skill = createRoute({
  getParentRoute: () => project,
  path: "skills/$slug",
  validateSearch: readSkillSearch,
  component: pageFrom(() => import("./pages/skills/detail.tsx")),
});

const schedules = createRoute({
  getParentRoute: () => project,
  path: "schedules",
  validateSearch: schedulesSearch.read,
  component: pageFrom(() => import("./pages/schedules/list.tsx")),
});
const newSchedule = createRoute({
  getParentRoute: () => project,
  path: "schedules/new",
  validateSearch: readNewScheduleSearch,
  component: pageFrom(() => import("./pages/schedules/new.tsx")),
});
const changeSchedule = createRoute({
  getParentRoute: () => project,
  path: "schedules/$scheduleId/change",
  component: pageFrom(() => import("./pages/schedules/change.tsx")),
});
const schedule = createRoute({
  getParentRoute: () => project,
  path: "schedules/$scheduleId",
  validateSearch: readScheduleSearch,
  component: pageFrom(() => import("./pages/schedules/detail.tsx")),
});

const tools = createRoute({
  getParentRoute: () => project,
  path: "tools",
  validateSearch: toolsSearch.read,
  component: pageFrom(() => import("./pages/tools/list.tsx")),
});
const publishToolkit = createRoute({
  getParentRoute: () => project,
  path: "tools/publish",
  component: pageFrom(() => import("./pages/toolkits/publish.tsx")),
});
const tool = createRoute({
  getParentRoute: () => project,
  path: "tools/$toolSlug",
  validateSearch: readToolSearch,
  component: pageFrom(() => import("./pages/tools/detail.tsx")),
});
const toolkit = createRoute({
  getParentRoute: () => project,
  path: "toolkits/$toolkitSlug",
  component: pageFrom(() => import("./pages/toolkits/detail.tsx")),
});

const accounts = createRoute({
  getParentRoute: () => project,
  path: "accounts",
  validateSearch: accountsSearch.read,
  component: pageFrom(() => import("./pages/accounts/list.tsx")),
});
const account = createRoute({
  getParentRoute: () => project,
  path: "accounts/$accountId",
  component: pageFrom(() => import("./pages/accounts/detail.tsx")),
});

const calls = createRoute({
  getParentRoute: () => project,
  path: "calls",
  validateSearch: callsSearch.read,
  component: pageFrom(() => import("./pages/calls/list.tsx")),
});
const call = createRoute({
  getParentRoute: () => project,
  path: "calls/$callId",
  component: pageFrom(() => import("./pages/calls/detail.tsx")),
});

const toolPages = [tools, publishToolkit, tool, toolkit, accounts, account, calls, call] as const;

const settings = createRoute({
  getParentRoute: () => project,
  path: "settings",
  validateSearch: readSettingsSearch,
  component: pageFrom(() => import("./pages/settings/page.tsx")),
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
  component: pageFrom(() => import("./pages/projects/list.tsx")),
});
const administered = createRoute({
  getParentRoute: () => admin,
  path: "projects/$id",
  validateSearch: readProjectSearch,
  component: pageFrom(() => import("./pages/projects/detail.tsx")),
});
const quarantine = createRoute({
  getParentRoute: () => admin,
  path: "quarantine",
  validateSearch: quarantineSearch.read,
  component: pageFrom(() => import("./pages/quarantine/list.tsx")),
});
const quarantined = createRoute({
  getParentRoute: () => admin,
  path: "quarantine/$postId",
  validateSearch: readQuarantinedSearch,
  component: pageFrom(() => import("./pages/quarantine/detail.tsx")),
});
const audit = createRoute({
  getParentRoute: () => admin,
  path: "audit",
  validateSearch: auditSearch.read,
  component: pageFrom(() => import("./pages/audit/list.tsx")),
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
