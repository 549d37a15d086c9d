import { Button } from "../ui/buttons/button.tsx";
import { Dialog } from "../ui/overlay/dialog.tsx";
import { setLinkOffer, useSignInNeed } from "./sign-in-need.ts";

/** Asks, over whatever page is open, whether a link that leads to another project is to be taken. */
export function LinkOfferDialog() {
  const { linkOffer } = useSignInNeed();
  const project = linkOffer?.seat.projectName ?? "";
  const leave = () => setLinkOffer(undefined);
  return (
    <Dialog
      open={linkOffer !== undefined}
      onClose={leave}
      title="Sign in to another project?"
      hideOnInteractOutside={false}
      actions={
        <>
          <Button onPress={leave}>Leave it</Button>
          <Button kind="primary" onPress={() => void linkOffer?.take()}>{`Sign in to ${project}`}</Button>
        </>
      }
    >
      <p>
        The link that was opened signs this browser in to the project <b>{project}</b>, with the key{" "}
        <b>{linkOffer?.seat.keyName}</b>. It stays good for its ten minutes if you leave it.
      </p>
      <p>
        Go on only if you made it yourself, or asked for it: what you fill in on the pages of a project is that
        project's.
      </p>
    </Dialog>
  );
}
