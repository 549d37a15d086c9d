import { defineFaults } from "@svc/core";

/** Errors of the sign-in with company accounts. */
export const peopleFaults = defineFaults({
  /** The provider could not be asked, or its answer failed a check. `why`: the reason, in the words of the check. */
  SIGN_IN_FAILED: {
    code: "unauthenticated",
    says: (why: string) => `the sign-in with the company account failed: ${why}`,
    help: "Start the sign-in again. If it keeps failing, run `svc doctor`.",
  },
  /** The account may not use this service. */
  ACCOUNT_REFUSED: {
    code: "permission_denied",
    says: (why: string) => why,
    help: "Ask an administrator of this service for a role or an invitation.",
  },
  /** An invitation cannot be used: it is unknown, used, expired, or for another person. */
  INVITATION_INVALID: {
    code: "unauthenticated",
    says: (why: string) => why,
    help: "Ask the sender for another one.",
  },
  /** A token of the provider failed a check. */
  TOKEN_REFUSED: {
    code: "unauthenticated",
    says: (why: string) => `the provider's token is refused: ${why}`,
    help: "Request a new token from the provider.",
  },
});
