import { lazyRouteComponent, type RouteComponent } from "@tanstack/react-router";
import type { ComponentType } from "react";
import { consoleBase } from "../session/base.ts";

/**
 * Returns the component of a page. The browser loads the page's file when the page is first shown. If loading fails although the service
 * answers, an update has removed the file, and the router reloads the console once. If the service is unreachable, a reload would show the
 * browser's own error page. The console shows PageFailed instead, and loads the page when the service answers again.
 */
export function pageFrom(load: () => Promise<{ default: ComponentType }>): RouteComponent {
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
