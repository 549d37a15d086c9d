import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { readAccountsSearch } from "./pages/accounts/filters.ts";
import { readCallsSearch } from "./pages/calls/filters.ts";
import { readDeliveriesSearch } from "./pages/deliveries/filters.ts";
import { readEventsSearch } from "./pages/events/filters.ts";
import { readToolSearch, readToolsSearch } from "./pages/tools/filters.ts";
import { consoleBase } from "./session/base.ts";
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
    throw redirect({ to: "/p/$projectId/events", params, replace: true });
  },
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

const tools = createRoute({
  getParentRoute: () => project,
  path: "tools",
  validateSearch: readToolsSearch,
  component: lazyRouteComponent(() => import("./pages/tools/list.tsx")),
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

const toolPages = [tools, tool, toolkit, accounts, account, calls, call] as const;

const routeTree = root.addChildren([
  start,
  addSeat,
  project.addChildren([projectHome, events, event, deliveries, delivery, ...toolPages]),
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
