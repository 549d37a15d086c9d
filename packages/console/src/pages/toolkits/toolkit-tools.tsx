import { useQuery } from "@connectrpc/connect-query";
import { CatalogService, ToolKind, ToolView } from "@svc/gen/catalog";
import { Link } from "@tanstack/react-router";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { State } from "../../ui/values/state.tsx";
import { classWord } from "../../words/calls.ts";

/** The tools of a toolkit, each with its class and what it does. */
export function ToolkitTools({ projectId, toolkitSlug }: { projectId: string; toolkitSlug: string }) {
  const list = useQuery(CatalogService.method.listTools, { toolkitSlug, projectId, view: ToolView.SUMMARY });
  const tools = list.data?.tools.filter(({ kind }) => kind !== ToolKind.TRIGGER) ?? [];
  return (
    <Stack>
      <FaultNotice error={list.error} onRetry={() => void list.refetch()} />
      {list.isPending && <Skeleton rows={4} />}
      {list.isSuccess && tools.length === 0 && <p>It has triggers only: they are subscribed to, and not called.</p>}
      {tools.map(({ slug, accessClass, description }) => (
        <Stack key={slug} tight>
          <Line>
            <Link to="/p/$projectId/tools/$toolSlug" params={{ projectId, toolSlug: slug }}>
              {slug}
            </Link>
            <State word={classWord(accessClass)} />
          </Line>
          <p>{description}</p>
        </Stack>
      ))}
    </Stack>
  );
}
