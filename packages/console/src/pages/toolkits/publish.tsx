import { getRouteApi, Link } from "@tanstack/react-router";
import { useApproverWhy } from "../../calls/identity.ts";
import { Page } from "../../ui/layout/page.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { DefinitionEditor } from "./definition-editor.tsx";

const route = getRouteApi("/p/$projectId/tools/publish");

/** A toolkit for this project alone: its definition pasted, dropped or written, checked as it is written, and published. */
export default function PublishToolkitPage() {
  const { projectId } = route.useParams();
  const why = useApproverWhy(projectId);
  return (
    <Page
      title="Publish a toolkit"
      back={
        <Link to="/p/$projectId/tools" params={{ projectId }}>
          Tools
        </Link>
      }
    >
      <p>
        Tools of an app of your own, for this project alone: its definition is what a toolkit's folder has, toolkit.yaml
        and tools/&lt;tool&gt;.yaml, as one JSON text.
      </p>
      {why !== undefined && <Notice tone="warn" icon="lock" title={`It is neither checked nor published: ${why}`} />}
      <DefinitionEditor projectId={projectId} why={why} />
    </Page>
  );
}
