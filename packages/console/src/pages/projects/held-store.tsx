import { useQuery } from "@connectrpc/connect-query";
import { AdminService, type Restore } from "@svc/gen/admin";
import { useState } from "react";
import { useRefresh } from "../../calls/refresh.ts";
import { WriteDialog } from "../../frame/write-dialog.tsx";
import { Button } from "../../ui/buttons/button.tsx";
import { announce } from "../../ui/notice/announce.ts";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { Time } from "../../ui/values/time.tsx";

/** Where the store was restored from a backup and is held: what waits, and how it goes on. Nothing where it is not held. */
export function HeldStore() {
  const found = useQuery(AdminService.method.getRestore, {});
  const [isAsked, setAsked] = useState(false);
  const restore = found.data?.restore;
  if (found.error !== null) return <FaultNotice error={found.error} onRetry={() => void found.refetch()} />;
  if (restore === undefined || restore.resumedAt !== undefined) return null;
  return (
    <>
      <Notice
        tone="warn"
        icon="pause"
        title="The store was restored from a backup and is held: nothing is sent by itself"
        actions={<Button onPress={() => setAsked(true)}>Let it go on</Button>}
      >
        <p>
          It has all until <Time at={restore.backupEndsAt} />. Posts and calls are taken; {waiting(restore)} wait.
        </p>
      </Notice>
      {isAsked && <ResumeDialog restore={restore} onClose={() => setAsked(false)} />}
    </>
  );
}

function ResumeDialog({ restore, onClose }: { restore: Restore; onClose: () => void }) {
  const refresh = useRefresh(AdminService);
  return (
    <WriteDialog
      method={AdminService.method.resumeRestored}
      title="Let the restored store go on?"
      fields={{
        nothingSince: {
          check: "The old store did nothing after the backup's end",
          hint: "It was stopped before. Else what a job from before would write may have been sent already: such writes are in doubt, and somebody is asked.",
        },
      }}
      request={(values) => values}
      keep="Cancel"
      act="Send and go on"
      busy="Resuming"
      kind="danger"
      onClose={onClose}
      done={async () => {
        announce("The store goes on.");
        onClose();
        await refresh();
      }}
    >
      <p>{`Within a second every node goes on with what waits, ${waiting(restore)}, and starts standing programs. Deliveries go out with the ids that they had.`}</p>
    </WriteDialog>
  );
}

function waiting({ deliveries, jobs }: Restore): string {
  return `${counted(deliveries, "delivery", "deliveries")} and ${counted(jobs, "job", "jobs")}`;
}

function counted(count: number, one: string, more: string): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : more}`;
}
