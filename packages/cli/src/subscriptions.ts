import type { Command } from "commander";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";
import { addSubscriptionCreate } from "./subscriptions/create.ts";
import { addSubscriptionDelete } from "./subscriptions/delete.ts";
import { addSubscriptionList } from "./subscriptions/list.ts";
import { addSubscriptionShow } from "./subscriptions/show.ts";
import { addSubscriptionTest } from "./subscriptions/test.ts";
import { addSubscriptionTry } from "./subscriptions/try.ts";
import { addSubscriptionUpdate } from "./subscriptions/update.ts";

/** Adds `svc subscriptions create|list|show|update|delete|test|try`. */
export function addSubscriptionsCommand(program: Command, context: CommandContext): void {
  const subscriptions = program
    .command("subscriptions")
    .description("create, list, show, change and delete subscriptions of endpoints to events, and try an endpoint out");
  addExamples(subscriptions, [
    "svc subscriptions create https://hooks.example.com/svc --toolkit calendar",
    "svc subscriptions test sub_01h455vb4pex5vsknk084sn02q",
  ]);
  addSubscriptionCreate(subscriptions, context);
  addSubscriptionList(subscriptions, context);
  addSubscriptionShow(subscriptions, context);
  addSubscriptionUpdate(subscriptions, context);
  addSubscriptionDelete(subscriptions, context);
  addSubscriptionTest(subscriptions, context);
  addSubscriptionTry(subscriptions, context);
}
