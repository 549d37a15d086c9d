import { Link, type LinkProps, useParams } from "@tanstack/react-router";
import { type ComponentProps, type ReactNode, Suspense } from "react";
import { laterPart } from "../ui/later-part.tsx";
import { Page } from "../ui/layout/page.tsx";
import { Skeleton } from "../ui/notice/empty.tsx";
import { FaultNotice } from "../ui/notice/fault.tsx";
import { Notice } from "../ui/notice/notice.tsx";
import type { StripOf } from "./trace-strip.tsx";

const TraceStrip = laterPart(() => import("./trace-strip.tsx"));

/**
 * Draws the page of one resource: a link to its list, its title, state and buttons, its trace strip (causes and effects), and its content.
 * `query`: the call that reads the resource. When it is read, the caller draws the content.
 */
export function DetailPage({
  list,
  query: { error, isPending, refetch },
  strip,
  children,
  ...page
}: Pick<ComponentProps<typeof Page>, "title" | "tab" | "state" | "actions"> & {
  list: { to: NonNullable<LinkProps["to"]>; words: string };
  query: { error: unknown; isPending: boolean; refetch: () => Promise<unknown> };
  strip: StripOf;
  children: ReactNode;
}) {
  const { projectId = "" } = useParams({ strict: false });
  const back = (
    <Link to={list.to} params={{ projectId } as never}>
      {list.words}
    </Link>
  );
  return (
    <Page {...page} back={back}>
      <FaultNotice error={error} onRetry={() => void refetch()} />
      {error === null && (
        // Another resource has another strip. It must not show the trace of the resource before until its own is read.
        <Suspense key={strip.id} fallback={<EmptyStrip failure={strip.failure} />}>
          <TraceStrip of={strip} projectId={projectId} />
        </Suspense>
      )}
      {isPending && <Skeleton />}
      {children}
    </Page>
  );
}

/** Keeps the room of a strip, so that nothing moves when the strip is loaded. */
function EmptyStrip({ failure }: { failure: string | undefined }) {
  return (
    <>
      <div style={{ minHeight: "var(--target)" }} />
      {failure !== undefined && <Notice tone="bad" title={failure} />}
    </>
  );
}
