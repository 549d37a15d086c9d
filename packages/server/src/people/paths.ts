/** Paths of the sign-in with a company account. `callback` and `logout` are registered at the company's identity provider. */
export const peoplePaths = {
  start: "/sign-in/start",
  callback: "/sign-in/callback",
  logout: "/sign-in/logout",
  invitation: "/sign-in/invitation",
} as const;
