package operators

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/web/pages/ui"
)

// jobPrefix is how the ID of a job begins that users are shown.
const jobPrefix = "job-"

// jobID is the number of a job in the ID that a user sends; 0 for anything else.
func jobID(text string) int64 {
	id, err := strconv.ParseInt(strings.TrimPrefix(strings.TrimSpace(text), jobPrefix), 10, 64)
	if err != nil || id < 0 {
		return 0
	}
	return id
}

// retry handles POST /operators/retry: the button that queues again what failed for a cause.
func (p *pages) retry(c echo.Context) error {
	done, err := p.opt.Store.RetryFailures(c.Request().Context(), c.FormValue("code"), c.FormValue("cause"),
		ui.ActorOfForm(c))
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/operators?"+url.Values{"retried": {strconv.Itoa(done.Jobs)}}.Encode())
}

// retried says what the button has done.
func retried(c echo.Context) string {
	jobs, err := strconv.Atoi(c.QueryParam("retried"))
	switch {
	case err != nil:
		return ""
	case jobs == 1:
		return "1 job is queued again."
	}
	return fmt.Sprintf("%d jobs are queued again.", jobs)
}
