import { type CallLimit, ToolsService } from "@svc/gen/tools";
import { useRefresh } from "../../calls/refresh.ts";
import { WriteDialog } from "../../frame/write-dialog.tsx";
import { announce } from "../../ui/notice/announce.ts";
import { limitOf, typedOf } from "./limit.ts";

/** Puts a call limit, as a whole. */
export function LimitDialog({ limit, onClose }: { limit: CallLimit | undefined; onClose: () => void }) {
  const refresh = useRefresh(ToolsService);
  const field = (text: string, hint: string) => ({ text, hint, autoComplete: "off" });
  return (
    <WriteDialog
      method={ToolsService.method.putCallLimit}
      title={limit === undefined ? "Add a call limit" : `Change the limit ${limit.name}`}
      fields={{
        name: {
          ...field("Name", "A lower-case letter, then lower-case letters, digits, - and _."),
          when: () => limit === undefined,
        },
        toolkitSlug: field("Toolkit", "Only its calls; empty for those of every toolkit."),
        concurrency: field("Calls at once", "Empty for any number."),
        rateMax: field("Calls that begin in a time", "Empty for any number."),
        ratePer: field("That time, in seconds", "1 to 86,400."),
        keyExpression: field(
          "Counted by",
          "CEL over toolSlug, entityId, accountId and accessClass, such as accountId. Empty: all together.",
        ),
        paused: { check: "Paused: no call goes" },
      }}
      start={typedOf(limit)}
      request={(typed) => ({ limit: limitOf(typed) })}
      act={limit === undefined ? "Add the limit" : "Put the limit"}
      busy="Putting"
      onClose={onClose}
      done={(_, { name }) => {
        announce(`The limit ${name} holds.`);
        onClose();
        return refresh();
      }}
    />
  );
}
