"""What is typed at the door."""

from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError


class SignInForm(AuthenticationForm):
    """User name and password; one sentence for whatever is wrong with them, so that nobody learns which names exist."""

    error_css_class = "error"

    def get_invalid_login_error(self) -> ValidationError:
        return ValidationError({"password": "This user name and password do not fit together."})
