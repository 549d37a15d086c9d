import { type AnyRouter, createRootRoute, createRoute, createRouter, redirect } from "@tanstack/react-router";
import { consoleBase } from "../session/base.ts";
import { PageFailed } from "../shell/page-failed.tsx";
import { pageFrom } from "../shell/page-file.ts";
import { parseSearch, stringifySearch } from "../shell/search-params.ts";
import { PortalShell } from "./shell.tsx";

// The pages of the portal. Each has the path of the page of the console that shows the same, so that the parts of these pages work in both.
// In the address, the path of the console's project is the path of the portal, and subscriptions are called endpoints.

const root = createRootRoute();
const project = createRoute({ getParentRoute: () => root, path: "/p/$projectId", component: PortalShell });
const home = createRoute({
  getParentRoute: () => project,
  path: "/",
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/p/$projectId/subscriptions", params, replace: true });
  },
});

function page<Path extends string>(path: Path, load: Parameters<typeof pageFrom>[0]) {
  return createRoute({
    ...{ getParentRoute: () => project, path, component: pageFrom(load) },
    validateSearch: (raw: Record<string, unknown>) => raw,
  });
}

const routeTree = root.addChildren([
  project.addChildren([
    home,
    page("subscriptions", () => import("./pages/endpoints.tsx")),
    page("subscriptions/new", () => import("./pages/new-endpoint.tsx")),
    page("subscriptions/$subscriptionId", () => import("./pages/endpoint.tsx")),
    page("subscriptions/$subscriptionId/change", () => import("./pages/change-endpoint.tsx")),
    page("deliveries/$deliveryId", () => import("./pages/delivery.tsx")),
    page("event-types", () => import("./pages/event-types.tsx")),
    page("event-types/$name", () => import("./pages/event-type.tsx")),
  ]),
]);

/** Creates the router of the portal, which chooses the page to draw for the browser's address. */
export function createPortalRouter(): AnyRouter {
  const base = consoleBase.pathname;
  return createRouter({
    ...{ routeTree, parseSearch, stringifySearch, defaultErrorComponent: PageFailed, defaultPendingMs: 150 },
    scrollRestoration: true,
    rewrite: {
      input: ({ url }) => {
        if (url.pathname.startsWith(base))
          url.pathname = `/p/${url.pathname.slice(base.length)}`.replace(
            /^(\/p\/[^/]+)\/endpoints/,
            "$1/subscriptions",
          );
        return url;
      },
      output: ({ url }) => {
        if (url.pathname.startsWith("/p/"))
          url.pathname = base + url.pathname.slice(3).replace(/^([^/]+)\/subscriptions/, "$1/endpoints");
        return url;
      },
    },
  });
}
