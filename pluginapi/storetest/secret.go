package storetest

import "context"

func secretChecks() []Check {
	return append(logChecks(),
		Check{"C09", "Config/secret_is_never_shown", "A secret setting is in no error, no log line and no answer.", alone, secretNeverShown},
		Check{"C10", "Config/token_is_never_shown", "A claim's token is in no error, no log line and no answer.", alone, tokenNeverShown},
	)
}

func secretNeverShown(_ context.Context, t *trial) {
	if t.target.Secret == "" {
		t.skipf("needs Target.Secret")
	}
	if t.heard.contains(t.target.Secret) {
		t.errorf("the secret was shown: %s", t.heard.around(t.target.Secret))
	}
}

func tokenNeverShown(_ context.Context, t *trial) {
	if t.heard.contains(t.mark) {
		t.errorf("a token was shown: %s", t.heard.around(t.mark))
	}
}
