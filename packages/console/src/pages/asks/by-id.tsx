import { getRouteApi, Navigate } from "@tanstack/react-router";
import { Page } from "../../ui/layout/page.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { useAsk } from "./use-ask.ts";

const route = getRouteApi("/p/$projectId/asks/$askId");

/** Finds a question by its id alone, and redirects to the page of the question. */
export default function AskByIdPage() {
  const { projectId, askId } = route.useParams();
  const asked = useAsk("", askId);
  const ask = asked.data?.ask;
  if (ask !== undefined) {
    return <Navigate to="/p/$projectId/asks/$jobId/$askId" params={{ projectId, jobId: ask.jobId, askId }} replace />;
  }
  return (
    <Page title="Question" tab={`Ask ${askId}`}>
      <FaultNotice error={asked.error} onRetry={() => void asked.refetch()} />
      {asked.isPending && <Skeleton />}
    </Page>
  );
}
