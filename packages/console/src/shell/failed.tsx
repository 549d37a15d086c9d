import { type ErrorComponentProps, Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { whenBack } from "../session/reachability.ts";
import { Button } from "../ui/buttons/button.tsx";
import { Page } from "../ui/layout/page.tsx";
import { Empty } from "../ui/notice/empty.tsx";
import { Notice } from "../ui/notice/notice.tsx";

/**
 * A page that could not be drawn. Usually its file did not load: the service was away, or was updated and no longer has it. The page loads
 * again by itself when calls are answered again.
 */
export function PageFailed({ error }: ErrorComponentProps) {
  useEffect(() => whenBack(() => location.reload()), []);
  return (
    <Page title="This page failed">
      <div role="alert">
        <Notice
          tone="bad"
          title={error instanceof Error ? error.message : String(error)}
          actions={<Button onPress={() => location.reload()}>Reload</Button>}
        >
          <p>
            If the service was updated or away, reloading helps. The page reloads by itself when the service answers
            again.
          </p>
        </Notice>
      </div>
    </Page>
  );
}

/** An address that no page has. */
export function NoPage() {
  return (
    <Page title="No such page">
      <Empty icon="search" title="Nothing is at this address">
        <p>
          <Link to="/">To the beginning</Link>, or Ctrl K to search.
        </p>
      </Empty>
    </Page>
  );
}
