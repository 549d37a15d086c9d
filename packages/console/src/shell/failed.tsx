import { type ErrorComponentProps, Link } from "@tanstack/react-router";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/empty.tsx";
import { Notice } from "../ui/notice.tsx";
import { Page } from "../ui/page.tsx";

/** A page that could not be drawn: most often its part of the console is of a version that the service has no more. */
export function PageFailed({ error }: ErrorComponentProps) {
  return (
    <Page title="This page failed">
      <div role="alert">
        <Notice
          tone="bad"
          title={error instanceof Error ? error.message : String(error)}
          actions={<Button onPress={() => location.reload()}>Reload</Button>}
        >
          <p>Where the service was updated meanwhile, reloading mends it.</p>
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
