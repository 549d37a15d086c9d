import { useQuery } from "@connectrpc/connect-query";
import { type CallLimit, ToolsService } from "@svc/gen/tools";
import { useState } from "react";
import { useApproverWhy } from "../../calls/identity.ts";
import { useRefresh, useWrite } from "../../calls/write.ts";
import { WriteDialog } from "../../frame/write-dialog.tsx";
import { Button } from "../../ui/buttons/button.tsx";
import { ConfirmButton } from "../../ui/buttons/confirm-button.tsx";
import { Item, Items } from "../../ui/layout/items.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { Empty, Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { limitOf, limitWords, typedOf } from "./limit.ts";

/** Draws the limits that the project has set for its own calls. They protect apps from too many calls. */
export function CallLimits({ projectId }: { projectId: string }) {
  const why = useApproverWhy(projectId);
  const [put, setPut] = useState<{ limit: CallLimit | undefined }>();
  const list = useQuery(ToolsService.method.listCallLimits, {});
  const limits = list.data?.limits ?? [];
  return (
    <Section
      title="Call limits"
      actions={
        <Button icon="plus" why={why} onPress={() => setPut({ limit: undefined })}>
          Add a limit
        </Button>
      }
    >
      <FaultNotice error={list.error} onRetry={() => void list.refetch()} />
      {list.isPending && <Skeleton rows={3} />}
      {list.isSuccess && limits.length === 0 && (
        <Empty icon="calls" title="No call limits yet">
          <p>A limit slows calls to an app: so many at once, or so many in a time. Calls over the limit wait.</p>
        </Empty>
      )}
      {limits.length > 0 && (
        <Items label="Call limits">
          {limits.map((limit) => (
            <LimitItem key={limit.name} limit={limit} why={why} onChange={() => setPut({ limit })} />
          ))}
        </Items>
      )}
      {put !== undefined && <LimitDialog limit={put.limit} onClose={() => setPut(undefined)} />}
    </Section>
  );
}

function LimitItem({ limit, why, onChange }: { limit: CallLimit; why: string | undefined; onChange: () => void }) {
  const { name, toolkitSlug, keyExpression } = limit;
  const refresh = useRefresh(ToolsService);
  const remove = useWrite(ToolsService.method.deleteCallLimit, {
    onSuccess: () => {
      announce(`The limit ${name} is deleted.`);
      return refresh();
    },
  });
  return (
    <Item
      title={name}
      actions={
        <>
          <Button why={why} onPress={onChange}>
            Change
          </Button>
          <ConfirmButton
            words="Delete"
            why={why}
            title={`Delete the limit ${name}?`}
            says="Calls are no longer limited. Waiting calls continue."
            confirm="Delete the limit"
            busy="Deleting"
            act={() => remove.sendAsync({ name })}
          />
        </>
      }
    >
      <p>
        {limitWords(limit)}, for {toolkitSlug === "" ? "all apps" : toolkitSlug}
      </p>
      {keyExpression !== "" && (
        <p>
          counted by <code>{keyExpression}</code>
        </p>
      )}
    </Item>
  );
}

/** Draws the dialog that sets a call limit. All values are sent together. */
function LimitDialog({ limit, onClose }: { limit: CallLimit | undefined; onClose: () => void }) {
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
        toolkitSlug: field("App", "Only calls to this app. Leave empty for all apps."),
        concurrency: field("Calls at once", "Leave empty for no limit."),
        rateMax: field("Calls in a period", "Leave empty for no limit."),
        ratePer: field("Period in seconds", "1 to 86,400."),
        keyExpression: field(
          "Counted by",
          "CEL over toolSlug, entityId, accountId and accessClass, such as accountId. Empty: all together.",
        ),
        paused: { check: "Paused: all calls wait" },
      }}
      start={typedOf(limit)}
      request={(typed) => ({ limit: limitOf(typed) })}
      act={limit === undefined ? "Add the limit" : "Save the limit"}
      busy="Putting"
      onClose={onClose}
      done={(_, { name }) => {
        announce(`The limit ${name} is saved.`);
        onClose();
        return refresh();
      }}
    />
  );
}
