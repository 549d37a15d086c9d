import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { readDeliveriesSearch } from "./pages/deliveries/filters.ts";
import { readEventsSearch } from "./pages/events/filters.ts";
import { readProjectSearch } from "./pages/projects/filters.ts";
import { readQuarantineSearch } from "./pages/quarantine/filters.ts";
import { readSettingsSearch } from "./pages/settings/filters.ts";
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
  component: lazyRouteComponent(() => import("./pages/quarantine/detail.tsx")),
});

const routeTree = root.addChildren([
  start,
  addSeat,
  project.addChildren([projectHome, events, event, deliveries, delivery, settings]),
  admin.addChildren([adminHome, projects, administered, quarantine, quarantined]),
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
