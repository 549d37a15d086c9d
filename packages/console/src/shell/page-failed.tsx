import type { ErrorComponentProps } from "@tanstack/react-router";
import { useEffect } from "react";
import { whenBack } from "../session/reachability.ts";
import { Button } from "../ui/buttons/button.tsx";
import { Page } from "../ui/layout/page.tsx";
import { Notice } from "../ui/notice/notice.tsx";

/**
 * Shown in place of a page that could not be drawn. Usually the page's file could not be loaded: the service was unreachable, or an update
 * has removed the file. The page reloads automatically when the service answers again.
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
          <p>Reload to get the current version. The page reloads automatically when the service answers again.</p>
        </Notice>
      </div>
    </Page>
  );
}
