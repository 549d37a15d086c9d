import { useQuery } from "@connectrpc/connect-query";
import { type CallLimit, ToolsService } from "@svc/gen/tools";
import { useState } from "react";
import { useRefresh } from "../../calls/refresh.ts";
import { useApproverWhy } from "../../calls/role.ts";
import { useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { ConfirmButton } from "../../ui/buttons/confirm-button.tsx";
import { Item, Items } from "../../ui/layout/items.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { announce } from "../../ui/notice/announce.ts";
import { Empty, Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { limitWords } from "./limit.ts";
import { LimitDialog } from "./limit-dialog.tsx";

/** What the project holds its own calls to, so that an app is not overrun. */
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
          <p>
            A limit holds calls to an app, by callers and by jobs together: so many at once, or so many in a time. One
            that finds it full waits for its turn.
          </p>
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
            says="Calls are no longer held to it; what waits for it goes on."
            confirm="Delete the limit"
            busy="Deleting"
            act={() => remove.sendAsync({ name })}
          />
        </>
      }
    >
      <p>
        {limitWords(limit)}, for {toolkitSlug === "" ? "every toolkit" : toolkitSlug}
      </p>
      {keyExpression !== "" && (
        <p>
          counted by <code>{keyExpression}</code>
        </p>
      )}
    </Item>
  );
}
