import { lazyRouteComponent, type RouteComponent } from "@tanstack/react-router";
import type { ComponentType } from "react";
import { consoleBase } from "../session/base.ts";

/**
 * Returns the component of a page, whose file the browser loads when the page is first shown. If the file is missing because of an update,
 * the console reloads once. If the service is unreachable, it shows PageFailed and loads the file when the service answers again.
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
