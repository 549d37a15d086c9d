import { createConnectQueryKey, useMutation } from "@connectrpc/connect-query";
import { type ConnectedAccount, ConnectionsService } from "@svc/gen/connections";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { announce } from "../../ui/announce.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { FaultNotice } from "../../ui/fault.tsx";

/** Deletes an account, after it was said what that means. The credential of the project itself is erased with its own call. */
export function DeleteButton({ account }: { account: ConnectedAccount }) {
  const [isAsked, setAsked] = useState(false);
  const queries = useQueryClient();
  const { deleteConnection, deleteProjectCredential } = ConnectionsService.method;
  const onSuccess = () => {
    setAsked(false);
    announce("The account is deleted.");
    return queries.invalidateQueries({
      queryKey: createConnectQueryKey({ schema: ConnectionsService, cardinality: undefined }),
    });
  };
  const ofEntity = useMutation(deleteConnection, { onSuccess });
  const ofProject = useMutation(deleteProjectCredential, { onSuccess });
  const isOwn = account.scheme === "client_credentials";
  const isPending = ofEntity.isPending || ofProject.isPending;
  const act = () =>
    isOwn ? ofProject.mutate({ toolkitSlug: account.toolkitSlug }) : ofEntity.mutate({ id: account.id });
  return (
    <>
      <Button onPress={() => setAsked(true)}>Delete</Button>
      <Dialog
        open={isAsked}
        onClose={() => setAsked(false)}
        title={`Delete ${account.toolkitSlug} of ${account.entityId || "the project"}?`}
        actions={
          <>
            <Button onPress={() => setAsked(false)}>Keep it</Button>
            <Button kind="danger" onPress={act} busy={isPending ? "Deleting" : undefined}>
              Delete the account
            </Button>
          </>
        }
      >
        <p>
          Its credentials are erased and its references given back. Calls and jobs that use it are refused from then on.
        </p>
        <FaultNotice error={ofEntity.error ?? ofProject.error} />
      </Dialog>
    </>
  );
}
