import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { readDeliveriesSearch } from "./pages/deliveries/filters.ts";
import { readEventsSearch } from "./pages/events/filters.ts";
import { readOverviewSearch } from "./pages/overview/filters.ts";
import { readReplaysSearch } from "./pages/replays/filters.ts";
import { readSubscriptionSearch } from "./pages/subscriptions/filters.ts";
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
  ]),
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
