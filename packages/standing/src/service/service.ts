import type { ServiceImpl } from "@connectrpc/connect";
import type { StandingService } from "@svc/gen/standing";
import { backfillMethods } from "./backfills.ts";
import type { StandingServiceContext } from "./context.ts";
import { programMethods } from "./programs.ts";
import { runMethods } from "./runs.ts";

/** StandingService over one store; every method takes its project from the calling key. */
export function createStandingService(context: StandingServiceContext): ServiceImpl<typeof StandingService> {
  return { ...programMethods(context), ...runMethods(context), ...backfillMethods(context) };
}
