import { useQuery } from "@connectrpc/connect-query";
import { ToolsService } from "@svc/gen/tools";
import { getRouteApi } from "@tanstack/react-router";
import { DetailPage } from "../../frame/detail-page.tsx";
import { CallBody } from "./call-body.tsx";

const route = getRouteApi("/p/$projectId/calls/$callId");
const lookMs = 2_000;

/** Draws one tool call. While the call is in progress, the page reads it again and again. */
export default function CallPage() {
  const { projectId, callId } = route.useParams();
  const call = useQuery(
    ToolsService.method.getToolCall,
    { id: callId },
    { refetchInterval: ({ state }) => (state.data?.call?.outcome === "running" ? lookMs : false) },
  );
  const found = call.data?.call;
  return (
    <DetailPage
      title={found?.toolSlug ?? "Call"}
      tab={`Call ${callId}`}
      list={{ to: "/p/$projectId/calls", words: "Calls" }}
      query={call}
      strip={{ id: callId, state: found?.outcome ?? "", failure: undefined }}
    >
      {found !== undefined && <CallBody projectId={projectId} call={found} />}
    </DetailPage>
  );
}
